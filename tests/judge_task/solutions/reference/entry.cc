// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "whet/candidate.h"

namespace {

whet_int32 run(const WhetCall* call, void*) {
  const whet_int64 rows = call->axes[0], keys = call->axes[1], dim = call->axes[2];
  const WhetTensor* t = call->tensors;
  const auto *q = static_cast<const float*>(t[0].data), *k = static_cast<const float*>(t[1].data), *v = static_cast<const float*>(t[2].data),
             *w = static_cast<const float*>(t[4].data);
  const auto* visible = static_cast<const whet_int64*>(t[3].data);
  auto* o = static_cast<float*>(t[5].data);
  std::vector<double> weights(keys), average(dim);
  for (whet_int64 row = 0; row < rows; ++row) {
    double most = -INFINITY, sum = 0;
    for (whet_int64 j = 0; j < visible[row]; ++j) {
      double score = 0;
      for (whet_int64 d = 0; d < dim; ++d) score += double(q[row * dim + d]) * k[j * dim + d];
      weights[j] = call->scalars[0].f * score;
      most = std::fmax(most, weights[j]);
    }
    for (double& a : average) a = 0;
    for (whet_int64 j = 0; j < visible[row]; ++j) {
      const double weight = std::exp(weights[j] - most);
      sum += weight;
      for (whet_int64 d = 0; d < dim; ++d) average[d] += weight * v[j * dim + d];
    }
    for (whet_int64 d = 0; d < dim; ++d) {
      double projected = 0;
      for (whet_int64 i = 0; i < dim; ++i) projected += average[i] * w[i * dim + d];
      o[row * dim + d] = visible[row] > 0 ? static_cast<float>(projected / sum) : 0.0f;
    }
  }
  return 0;
}

constexpr WhetEntry kEntries[] = {{"weighted_average", nullptr, nullptr, run, nullptr}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 1, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
