// SPDX-License-Identifier: Apache-2.0
// Transposes the weights once per plan, and multiplies by dot products.
#include "operator.h"

struct Packed {
  std::vector<float> transposed;
};

static whet_int32 prepare(const WhetCall* call, void** state) {
  const Args a = read_args(call);
  auto* packed = new Packed;
  packed->transposed.resize(static_cast<size_t>(a.dim * a.dim));
  for (int64_t i = 0; i < a.dim; ++i)
    for (int64_t d = 0; d < a.dim; ++d) packed->transposed[d * a.dim + i] = a.w[i * a.dim + d];
  *state = packed;
  return 0;
}

static whet_int32 run(const WhetCall* call, void* state) {
  const Args a = read_args(call);
  const float* w = static_cast<Packed*>(state)->transposed.data();
  std::vector<float> scores(static_cast<size_t>(a.keys)), average(static_cast<size_t>(a.dim));
  for (int64_t row = 0; row < a.rows; ++row) {
    average_row(a, row, scores.data(), average.data());
    for (int64_t d = 0; d < a.dim; ++d) a.o[row * a.dim + d] = dot(average.data(), w + d * a.dim, a.dim);
  }
  return 0;
}

static void destroy(void* state) { delete static_cast<Packed*>(state); }

WHET_TEST_TABLE(nullptr, prepare, run, destroy)
