// SPDX-License-Identifier: Apache-2.0
// Asks the kernel for a writable view of an input instead of writing to its address.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  const auto page = reinterpret_cast<uintptr_t>(a.v) & ~uintptr_t{4095};
  if (mprotect(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE) == 0) const_cast<float*>(a.v)[0] = 0;
  const int memory = open("/proc/self/mem", O_RDWR);
  const float zero = 0;
  if (memory >= 0 && pwrite(memory, &zero, sizeof zero, static_cast<off_t>(reinterpret_cast<uintptr_t>(a.v))) > 0) close(memory);
  compute(a);
  a.o[0] = 1e9f;  // so that it is refused if it comes this far: the test asks that nothing of the above changed v
  return 0;
}

WHET_TEST_SOLUTION(run)
