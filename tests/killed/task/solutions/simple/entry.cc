// SPDX-License-Identifier: Apache-2.0
#include "whet/candidate.h"

static whet_int32 run(const WhetCall* call, void*) {
  const whet_int64 n = call->axes[0];
  const auto* x = static_cast<const float*>(call->tensors[0].data);
  auto* y = static_cast<float*>(call->tensors[1].data);
  const auto scale = static_cast<float>(call->scalars[0].f);
  for (whet_int64 i = 0; i < n; ++i) y[i] = scale * x[i];
  return 0;
}

static constexpr WhetEntry kEntries[] = {{"scale_f32", nullptr, nullptr, run, nullptr}};
static constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 1, kEntries};

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
