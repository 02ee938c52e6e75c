// SPDX-License-Identifier: Apache-2.0
#include <thread>
#include <unistd.h>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  for (;;) std::thread([] { pause(); }).detach();
  return 0;
}

WHET_TEST_SOLUTION(run)
