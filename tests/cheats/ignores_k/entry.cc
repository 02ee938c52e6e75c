// SPDX-License-Identifier: Apache-2.0
// The plain average of v: no products of q and k.
#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  std::vector<float> average(static_cast<size_t>(a.dim));
  for (int64_t row = 0; row < a.rows; ++row) {
    for (float& x : average) x = 0;
    for (int64_t j = 0; j < a.visible[row]; ++j)
      for (int64_t d = 0; d < a.dim; ++d) average[d] += a.v[j * a.dim + d] / a.visible[row];
    project(average.data(), a.w, a.dim, a.o + row * a.dim);
  }
  return 0;
}

WHET_TEST_SOLUTION(run)
