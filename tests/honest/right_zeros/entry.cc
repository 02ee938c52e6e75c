// SPDX-License-Identifier: Apache-2.0
// Zeros first, then only what there is to compute. On a workload in which no row sees a key all that it does is write zeros, which is right.
#include <cstring>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  std::memset(a.o, 0, static_cast<size_t>(a.outputs()) * 4);
  int64_t total = 0;
  for (int64_t row = 0; row < a.rows; ++row) total += a.visible[row];
  if (total == 0) return 0;
  compute(a);
  return 0;
}

WHET_TEST_SOLUTION(run)
