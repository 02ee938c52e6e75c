// SPDX-License-Identifier: Apache-2.0
#include <thread>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  std::thread([] {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  }).join();
  return 0;
}

WHET_TEST_SOLUTION(run)
