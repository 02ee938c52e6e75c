// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  for (int i = 0; i < 10000; ++i) std::printf("%01023d\\n", i);
  return 0;
}

WHET_TEST_SOLUTION(run)
