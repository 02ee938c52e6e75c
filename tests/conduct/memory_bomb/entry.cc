// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  for (int i = 0; i < 64; ++i) std::memset(std::malloc(size_t{1} << 30), 1, size_t{1} << 30);
  return 0;
}

WHET_TEST_SOLUTION(run)
