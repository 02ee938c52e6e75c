// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "doubles.h"
#include "problem.h"

namespace reference {

double softmax_block(double* logits, Index low, Index high, Index count, double* running_max, double* running_sum) {
  low = std::max<Index>(low, 0);
  high = std::min(high, count);
  if (low >= high) {
    std::fill(logits, logits + count, 0.0);
    return 1.0;
  }
  const Index from = low / kLanes * kLanes;
  const Index to = round_up(high, kLanes);
  std::fill(logits + from, logits + low, -INFINITY);
  std::fill(logits + high, logits + to, -INFINITY);
  Doubles peaks = spread(-INFINITY);
  for (Index j = from; j < to; j += kLanes) peaks = larger(peaks, load(logits + j));
  double peak = *running_max;
  for (int lane = 0; lane < kLanes; ++lane) peak = std::max(peak, double(peaks[lane]));
  const double factor = *running_max == -INFINITY ? 0.0 : std::exp(*running_max - peak);

  const Doubles shift = spread(peak);
  Doubles sums{};
  for (Index j = from; j < to; j += kLanes) {
    const Doubles e = exp_of(load(logits + j) - shift);
    store(logits + j, e);
    sums += e;
  }
  double sum = 0.0;
  for (int lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  std::fill(logits, logits + low, 0.0);
  std::fill(logits + high, logits + count, 0.0);
  *running_sum = *running_sum * factor + sum;
  *running_max = peak;
  return factor;
}

namespace {

// Below this many rows per head, packing costs more than it saves.
constexpr Index kFewRows = 16;

bool streams(const Problem& p) { return p.rows() <= kFewRows && p.head_dim % 16 == 0; }

whet_int32 workspace(const WhetCall* call, whet_uint64* bytes) {
  const Problem p(*call);
  *bytes = streams(p) ? streamed_workspace(p) : packed_workspace(p);
  return 0;
}

template <class T>
whet_int32 run(const WhetCall* call, void*) {
  const Problem p(*call);
  const auto* q = static_cast<const T*>(call->tensors[0].data);
  const auto* k = static_cast<const T*>(call->tensors[1].data);
  const auto* v = static_cast<const T*>(call->tensors[2].data);
  auto* o = static_cast<float*>(call->tensors[3].data);
  auto* scratch = static_cast<double*>(call->workspace);
  if (streams(p)) {
    run_streamed(p, q, k, v, o, scratch);
  } else {
    run_packed(p, q, k, v, o, scratch);
  }
  return 0;
}

constexpr WhetEntry kEntries[] = {{"attention_f32", workspace, nullptr, run<float>, nullptr},
                                  {"attention_bf16", workspace, nullptr, run<Bf16>, nullptr}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 2, kEntries};

}  // namespace
}  // namespace reference

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &reference::kSolution; }
