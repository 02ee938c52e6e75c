// SPDX-License-Identifier: Apache-2.0
//
// The two products of `blocked`, neither of which needs a horizontal sum:
//
//   scores[key][row] = sum over d   of K[key][d]   * Q'[d][row]   one query row a lane; K is read where it lies
//   out[row][d]      = sum over key of P[key][row] * V[key][d]    one column of V a lane
//
// The left operand is broadcast. A `Cell` is what one step multiplies: a float, or a pair of bfloat16. Accumulators stay
// in registers; 16 of them hide the latency of the multiply-add. Not inlined: the registers are theirs alone.
#pragma once

#include "simd.h"

namespace start {

// Keeps a vector that several multiply-adds use in a register: GCC would fold its load into each of them.
#if defined(__x86_64__) && (defined(START_AVX512) || defined(START_AVX2))
#define START_IN_REGISTER(x) asm("" : "+v"(x))
#else
#define START_IN_REGISTER(x)
#endif

struct FloatCell {
  using Cell = float;
  static vf broadcast(const Cell* p) { return vset(*p); }
  static vf load(const Cell* p) { return vload(p); }
  static vf multiply_add(vf a, vf b, vf c) { return vfma(a, b, c); }
};

#if defined(START_BF16_DOT)
struct PairCell {
  using Cell = std::uint32_t;
  static __m512bh broadcast(const Cell* p) { return (__m512bh)_mm512_set1_epi32(static_cast<int>(*p)); }
  static __m512bh load(const Cell* p) { return (__m512bh)_mm512_loadu_si512(p); }
  static vf multiply_add(__m512bh a, __m512bh b, vf c) { return _mm512_dpbf16_ps(c, a, b); }
};
#endif

// scores[r][.] = factor * sum over i < steps of keys[r * key_stride + i] * q[i][.] for MR keys and V vectors of query rows;
// raises `top`. Both q and scores have rows of `width`.
template <class Op, int V, int MR>
[[gnu::noinline]] void score_rows(const typename Op::Cell* keys, std::ptrdiff_t key_stride, const typename Op::Cell* q,
                                  std::ptrdiff_t width, int steps, float factor, float* scores, vf* top) {
  vf acc[MR][V];
  for (int r = 0; r < MR; ++r) {
    for (int c = 0; c < V; ++c) acc[r][c] = vset(0);
  }
  for (int i = 0; i < steps; ++i, q += width) {
    decltype(Op::load(q)) b[V];
    for (int c = 0; c < V; ++c) {
      b[c] = Op::load(q + c * kLanes);
      START_IN_REGISTER(b[c]);
    }
    for (int r = 0; r < MR; ++r) {
      const auto a = Op::broadcast(keys + r * key_stride + i);
      for (int c = 0; c < V; ++c) acc[r][c] = Op::multiply_add(a, b[c], acc[r][c]);
    }
  }
  for (int r = 0; r < MR; ++r) {
    for (int c = 0; c < V; ++c) {
      acc[r][c] *= vset(factor);
      vstore(scores + r * width + c * kLanes, acc[r][c]);
      top[c] = vmax(top[c], acc[r][c]);
    }
  }
}

// out[r][.] = (fresh ? 0 : alpha[r] * out[r][.]) + sum over i < steps of p[i * p_stride + r] * values[i * value_stride + .]
// for MR rows and C vectors of columns.
template <class Op, int MR, int C>
[[gnu::noinline]] void value_rows(const typename Op::Cell* p, std::ptrdiff_t p_stride, const typename Op::Cell* values,
                                  std::ptrdiff_t value_stride, int steps, bool fresh, const float* alpha, float* out,
                                  std::ptrdiff_t out_stride) {
  vf acc[MR][C];
  for (int r = 0; r < MR; ++r) {
    for (int c = 0; c < C; ++c) {
      acc[r][c] = fresh ? vset(0) : vload(out + r * out_stride + c * kLanes) * vset(alpha[r]);
    }
  }
  for (int i = 0; i < steps; ++i) {
    decltype(Op::load(p)) b[C];
    for (int c = 0; c < C; ++c) {
      b[c] = Op::load(values + i * value_stride + c * kLanes);
      START_IN_REGISTER(b[c]);
    }
    for (int r = 0; r < MR; ++r) {
      const auto a = Op::broadcast(p + i * p_stride + r);
      for (int c = 0; c < C; ++c) acc[r][c] = Op::multiply_add(a, b[c], acc[r][c]);
    }
  }
  for (int r = 0; r < MR; ++r) {
    for (int c = 0; c < C; ++c) vstore(out + r * out_stride + c * kLanes, acc[r][c]);
  }
}

// Keys of one call of score_rows() where a strip has NV vectors of query rows.
template <int NV>
inline constexpr int kKeysHigh = kLanes == 16 ? (NV >= 4 ? 6 : 8) : (NV >= 2 ? 6 : 8);

}  // namespace start
