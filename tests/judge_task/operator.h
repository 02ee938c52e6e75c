// SPDX-License-Identifier: Apache-2.0
// What the Solutions of the judge's tests share: the arguments by name and an honest computation. The test adds this file to each of them.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "whet/candidate.h"

struct Args {
  int64_t rows, keys, dim;
  const float *q, *k, *v;
  const int64_t* visible;
  const float* w;  // [dim, dim], row-major
  float scale;
  float* o;
  int threads;
  int64_t outputs() const { return rows * dim; }
};

inline Args read_args(const WhetCall* call) {
  const WhetTensor* t = call->tensors;
  return {call->axes[0],
          call->axes[1],
          call->axes[2],
          static_cast<const float*>(t[0].data),
          static_cast<const float*>(t[1].data),
          static_cast<const float*>(t[2].data),
          static_cast<const int64_t*>(t[3].data),
          static_cast<const float*>(t[4].data),
          static_cast<float>(call->scalars[0].f),
          static_cast<float*>(t[5].data),
          call->num_threads};
}

inline float dot(const float* a, const float* b, int64_t n) {
  float lanes[16] = {};  // dim is a multiple of 16
  for (int64_t i = 0; i < n; i += 16)
    for (int j = 0; j < 16; ++j) lanes[j] += a[i + j] * b[i + j];
  float sum = 0;
  for (float lane : lanes) sum += lane;
  return sum;
}

// Row `row` before the projection. `scores` holds `keys` floats, `average` `dim`. False for a row that sees nothing.
inline bool average_row(const Args& a, int64_t row, float* scores, float* average) {
  const int64_t n = a.visible[row];
  float most = -INFINITY, sum = 0;
  for (int64_t j = 0; j < n; ++j) {
    scores[j] = a.scale * dot(a.q + row * a.dim, a.k + j * a.dim, a.dim);
    most = scores[j] > most ? scores[j] : most;
  }
  for (int64_t d = 0; d < a.dim; ++d) average[d] = 0;
  for (int64_t j = 0; j < n; ++j) {
    const float weight = std::exp(scores[j] - most);
    sum += weight;
    for (int64_t d = 0; d < a.dim; ++d) average[d] += weight * a.v[j * a.dim + d];
  }
  for (int64_t d = 0; d < a.dim && n > 0; ++d) average[d] /= sum;
  return n > 0;
}

inline void project(const float* average, const float* w, int64_t dim, float* o) {
  for (int64_t d = 0; d < dim; ++d) o[d] = 0;
  for (int64_t i = 0; i < dim; ++i)
    for (int64_t d = 0; d < dim; ++d) o[d] += average[i] * w[i * dim + d];
}

inline void compute_rows(const Args& a, int64_t begin, int64_t end) {
  std::vector<float> scores(static_cast<size_t>(a.keys)), average(static_cast<size_t>(a.dim));
  for (int64_t row = begin; row < end; ++row) {
    average_row(a, row, scores.data(), average.data());
    project(average.data(), a.w, a.dim, a.o + row * a.dim);
  }
}

inline void compute(const Args& a) { compute_rows(a, 0, a.rows); }

#define WHET_TEST_TABLE(workspace_bytes, prepare, run, destroy)                                             \
  extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) {                                       \
    static const WhetEntry entries[] = {{"weighted_average", workspace_bytes, prepare, run, destroy}};      \
    static const WhetSolution solution = {WHET_ABI_VERSION, 1, entries};                                    \
    return &solution;                                                                                       \
  }
#define WHET_TEST_SOLUTION(run) WHET_TEST_TABLE(nullptr, nullptr, run, nullptr)
