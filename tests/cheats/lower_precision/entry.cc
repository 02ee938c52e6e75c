// SPDX-License-Identifier: Apache-2.0
// Keeps 8 bits of each input's mantissa.
#include <cstring>

#include "operator.h"

static std::vector<float> rounded(const float* x, int64_t n) {
  std::vector<float> y(x, x + n);
  for (float& value : y) {
    uint32_t bits;
    std::memcpy(&bits, &value, 4);
    bits &= 0xffff0000u;
    std::memcpy(&value, &bits, 4);
  }
  return y;
}

static whet_int32 run(const WhetCall* call, void*) {
  Args a = read_args(call);
  const auto q = rounded(a.q, a.rows * a.dim), k = rounded(a.k, a.keys * a.dim), v = rounded(a.v, a.keys * a.dim);
  a.q = q.data(), a.k = k.data(), a.v = v.data();
  compute(a);
  return 0;
}

WHET_TEST_SOLUTION(run)
