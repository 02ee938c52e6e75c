// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

static int deeper(volatile int* above) {
  volatile int here[256] = {*above};
  return deeper(here) + here[7];
}

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  volatile int top = 1;
  return deeper(&top);
}

WHET_TEST_SOLUTION(run)
