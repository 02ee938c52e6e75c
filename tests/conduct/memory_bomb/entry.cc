// SPDX-License-Identifier: Apache-2.0
// Touches 64 GiB, in large pages where there are any, so that it comes far within the time of a call.
#include <sys/mman.h>

#include <cstring>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  constexpr size_t kBytes = size_t{1} << 30;
  for (int i = 0; i < 64; ++i) {
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      std::strncpy(call->message, "no more memory", call->message_bytes);
      return 1;
    }
    madvise(memory, kBytes, MADV_HUGEPAGE);
    std::memset(memory, 1, kBytes);
  }
  return 0;
}

WHET_TEST_SOLUTION(run)
