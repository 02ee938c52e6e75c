// SPDX-License-Identifier: Apache-2.0
// Wraps an attention Solution and makes it 3 % slower in an honest way: after the call it computes scores of query rows again, key by key, until 3 %
// of the call's time have passed. (Whole rows through the wrapped kernel would cost up to three times that, because it works in tiles.) The wrapped
// Solution's sources are compiled with -Dwhet_solution_v1=wrapped_solution_v1, which this file undoes for itself.
#include "whet/candidate.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>

#undef whet_solution_v1
extern "C" const WhetSolution* wrapped_solution_v1(void);

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAgain = 0.03;
constexpr whet_int64 kKeysPerLook = 16;  // at the clock: less than a microsecond apart
const WhetEntry* wrapped_entries;

struct Bf16 {
  std::uint16_t bits;
};
float widen(float x) { return x; }
float widen(Bf16 x) {
  const std::uint32_t bits = std::uint32_t{x.bits} << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

// Axes: batch, q_len, kv_len, q_heads, kv_heads, head_dim. Tensors: q, k, v, o.
template <class T>
void score_again(const WhetCall* call, Clock::time_point end) {
  const whet_int64 *a = call->axes, q_row = a[3] * a[5], kv_row = a[4] * a[5], dim = a[5];
  const T* queries = static_cast<const T*>(call->tensors[0].data);
  const T* keys = static_cast<const T*>(call->tensors[1].data);
  volatile float sink = 0;
  for (whet_int64 row = a[0] * a[1] * a[3] - 1;; row = row > 0 ? row - 1 : a[0] * a[1] * a[3] - 1) {
    const whet_int64 head = row % a[3], batch = row / a[3] / a[1];
    const T* q = queries + row / a[3] * q_row + head * dim;
    const T* k = keys + batch * a[2] * kv_row + head / (a[3] / a[4]) * dim;
    for (whet_int64 j = 0; j < a[2]; ++j, k += kv_row) {
      if (j % kKeysPerLook == 0 && Clock::now() >= end) return;
      float sum = 0;
      for (whet_int64 d = 0; d < dim; ++d) sum += widen(q[d]) * widen(k[d]);
      sink = sum;
    }
  }
}

template <class T, int Entry>
whet_int32 run_slowed(const WhetCall* call, void* state) {
  const auto begin = Clock::now();
  const whet_int32 code = wrapped_entries[Entry].run(call, state);
  const auto end = Clock::now();
  score_again<T>(call, end + std::chrono::duration_cast<Clock::duration>(kAgain * (end - begin)));
  return code;
}

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) {
  static WhetEntry entries[2];
  static WhetSolution table;
  const WhetSolution* wrapped = wrapped_solution_v1();
  if (!wrapped || wrapped->num_entries != 2) return nullptr;
  wrapped_entries = wrapped->entries;
  std::copy_n(wrapped->entries, 2, entries);
  entries[0].run = run_slowed<float, 0>;
  entries[1].run = run_slowed<Bf16, 1>;
  table = {wrapped->abi_version, 2, entries};
  return &table;
}
