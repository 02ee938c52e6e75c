// SPDX-License-Identifier: Apache-2.0
//
// A first draft. There is no prepare(): the weight is used as it comes. A Solution that wants it in another layout packs
// it in prepare(), where tensors[1] has data, and finds it again in the state or in the workspace.
#include <algorithm>
#include <cmath>

#include "choices.h"
#include "whet/candidate.h"

namespace {

constexpr int kPlain = 0;  // one sum in a chain of additions
constexpr int kWide = 1;   // sixteen sums side by side, which a compiler turns into vectors

float sum_of_squares(const float* x, whet_int64 hidden) {
  float sum = 0.0f;
  whet_int64 i = 0;
  if constexpr (kPath == kWide) {
    float partial[16] = {};
    for (; i + 16 <= hidden; i += 16) {
      for (int lane = 0; lane < 16; ++lane) partial[lane] += x[i + lane] * x[i + lane];
    }
    for (float p : partial) sum += p;
  }
  for (; i < hidden; ++i) sum += x[i] * x[i];
  return sum;
}

whet_int32 run(const WhetCall* call, void*) {
  static_assert(kPath == kPlain || kPath == kWide);
  const whet_int64 tokens = call->axes[0];
  const whet_int64 hidden = call->axes[1];
  const auto* x = static_cast<const float*>(call->tensors[0].data);
  const auto* weight = static_cast<const float*>(call->tensors[1].data);
  auto* y = static_cast<float*>(call->tensors[2].data);
  const float eps = float(call->scalars[0].f);
  const int threads = std::min(kThreads, int(call->num_threads));
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (whet_int64 t = 0; t < tokens; ++t) {
    const float* row = x + t * hidden;
    const float inverse_rms = 1.0f / std::sqrt(sum_of_squares(row, hidden) / float(hidden) + eps);
    for (whet_int64 i = 0; i < hidden; ++i) y[t * hidden + i] = row[i] * inverse_rms * weight[i];
  }
  return 0;
}

constexpr WhetEntry kEntries[] = {{"rmsnorm_f32", nullptr, nullptr, run, nullptr}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 1, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
