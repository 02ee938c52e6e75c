// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
#pragma omp parallel for num_threads(a.threads) schedule(dynamic, 4)
  for (int64_t row = 0; row < a.rows; ++row) compute_rows(a, row, row + 1);
  return 0;
}

WHET_TEST_SOLUTION(run)
