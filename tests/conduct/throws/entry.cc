// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  throw std::runtime_error("through the C ABI");
  return 0;
}

WHET_TEST_SOLUTION(run)
