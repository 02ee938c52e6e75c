// SPDX-License-Identifier: Apache-2.0
//
// Two entries per Definition: NAME in float32 with compensated sums, NAME.f64 in float64. Both write float32.
#include <cstdio>
#include <utility>

#include "launch.h"

namespace attention {
namespace {

template <int kContract, bool kDouble>
whet_int32 run(const WhetCall* call, void*) {
  const Problem p = read_call(kContracts[kContract], call);
  const char* problem = kDouble ? launch_f64(p, call->stream) : launch_f32(p, call->stream);
  if (problem) std::snprintf(call->message, call->message_bytes, "%s", problem);
  return problem ? 1 : 0;
}

struct Names {
  char exact[kNumContracts][64];
  constexpr Names() : exact{} {
    for (int i = 0; i < kNumContracts; ++i) {
      int at = 0;
      for (const char* c = kContracts[i].name; *c; ++c) exact[i][at++] = *c;
      for (char c : {'.', 'f', '6', '4'}) exact[i][at++] = c;
    }
  }
};
constexpr Names kNames;

template <int... kIndex>
const WhetSolution* table(std::integer_sequence<int, kIndex...>) {
  static const WhetEntry entries[] = {{kContracts[kIndex].name, nullptr, nullptr, run<kIndex, false>, nullptr}...,
                                      {kNames.exact[kIndex], nullptr, nullptr, run<kIndex, true>, nullptr}...};
  static const WhetSolution solution = {WHET_ABI_VERSION, sizeof entries / sizeof entries[0], entries};
  return &solution;
}

}  // namespace
}  // namespace attention

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return attention::table(std::make_integer_sequence<int, attention::kNumContracts>()); }
