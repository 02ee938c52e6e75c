// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "whet/candidate.h"

namespace {

// -ffast-math lets the compiler split the sum over vector lanes; the row is read twice, the second time from L1.
void normalise_row(const float* __restrict x, const float* __restrict weight, float eps, whet_int64 hidden,
                   float* __restrict y) {
  float sum = 0.0f;
  for (whet_int64 i = 0; i < hidden; ++i) sum += x[i] * x[i];
  const float inverse_rms = 1.0f / std::sqrt(sum / float(hidden) + eps);
  for (whet_int64 i = 0; i < hidden; ++i) y[i] = x[i] * inverse_rms * weight[i];
}

whet_int32 run(const WhetCall* call, void*) {
  const whet_int64 tokens = call->axes[0];
  const whet_int64 hidden = call->axes[1];
  const auto* x = static_cast<const float*>(call->tensors[0].data);
  const auto* weight = static_cast<const float*>(call->tensors[1].data);
  auto* y = static_cast<float*>(call->tensors[2].data);
  const float eps = float(call->scalars[0].f);
  // Waking a second thread costs more than a few thousand elements are worth.
  const int threads = tokens * hidden >= 32768 ? call->num_threads : 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (whet_int64 t = 0; t < tokens; ++t) normalise_row(x + t * hidden, weight, eps, hidden, y + t * hidden);
  return 0;
}

constexpr WhetEntry kEntries[] = {{"rmsnorm_f32", nullptr, nullptr, run, nullptr}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 1, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
