// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  volatile int seven = 7, zero = 0;
  volatile int nothing = seven / zero;
  (void)nothing;
  return 0;
}

WHET_TEST_SOLUTION(run)
