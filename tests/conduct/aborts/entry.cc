// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  std::abort();
  return 0;
}

WHET_TEST_SOLUTION(run)
