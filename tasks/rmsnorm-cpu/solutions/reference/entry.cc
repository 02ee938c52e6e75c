// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "whet/candidate.h"

namespace {

whet_int32 run(const WhetCall* call, void*) {
  const whet_int64 tokens = call->axes[0];
  const whet_int64 hidden = call->axes[1];
  const auto* x = static_cast<const float*>(call->tensors[0].data);
  const auto* weight = static_cast<const float*>(call->tensors[1].data);
  auto* y = static_cast<float*>(call->tensors[2].data);
  const double eps = call->scalars[0].f;
#pragma omp parallel for num_threads(call->num_threads) schedule(static)
  for (whet_int64 t = 0; t < tokens; ++t) {
    const float* row = x + t * hidden;
    double partial[8] = {};  // independent sums, or the chain of additions sets the time
    whet_int64 i = 0;
    for (; i + 8 <= hidden; i += 8) {
      for (int lane = 0; lane < 8; ++lane) partial[lane] += double(row[i + lane]) * row[i + lane];
    }
    double sum = 0.0;
    for (; i < hidden; ++i) sum += double(row[i]) * row[i];
    for (double p : partial) sum += p;
    const double inverse_rms = 1.0 / std::sqrt(sum / double(hidden) + eps);
    for (whet_int64 j = 0; j < hidden; ++j) y[t * hidden + j] = float(row[j] * inverse_rms * weight[j]);
  }
  return 0;
}

constexpr WhetEntry kEntries[] = {{"rmsnorm_f32", nullptr, nullptr, run, nullptr}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 1, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
