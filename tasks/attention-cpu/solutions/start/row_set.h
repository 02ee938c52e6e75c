// SPDX-License-Identifier: Apache-2.0
//
// A few query rows that read the same keys, with the running state of their online softmax: the core of `vectorised`
// (one row) and `split` (all rows of a key head). The vectors lie along the head.
#pragma once

#include "exp.h"
#include "families.h"

namespace start {

// What a row leaves when it has seen some of its keys: sums relative to 2^top.
struct Partial {
  float top;
  float sum;
};

// `Pairs`: bfloat16 is multiplied by dot products of pairs, where the processor has them.
template <class T, bool Pairs>
class RowSet {
 public:
#if defined(START_BF16_DOT)
  static constexpr bool kPairs = Pairs && sizeof(T) == 2;
#else
  static constexpr bool kPairs = false;
#endif
  using Query = std::conditional_t<kPairs, Bf16, float>;  // pairs are multiplied as they are, floats carry the scale
  static constexpr int kStep = kPairs ? 2 * kLanes : kLanes;

  static int padded(const Problem& p) { return static_cast<int>((p.head_dim + 31) / 32 * 32); }
  static std::size_t bytes(const Problem& p, std::int64_t rows, int block) {
    return static_cast<std::size_t>(rows) * (static_cast<std::size_t>(padded(p)) * 8 + sizeof(Partial) + 8 +
                                             4 * static_cast<std::size_t>(block)) + 6 * 64;
  }

  // `block` is the most keys that see() is given at once, a multiple of 16.
  RowSet(const Problem& p, int rows, int block, char*& memory)
      : p_(p), dim_(static_cast<int>(p.head_dim)), padded_(padded(p)), block_(block),
        paired_(kPairs && p.head_dim % 32 == 0), key_stride_(p.kv_heads * p.head_dim) {
    const std::size_t n = static_cast<std::size_t>(rows), wide = n * static_cast<std::size_t>(padded_);
    query_ = aligned_take<Query>(memory, wide);
    out_ = aligned_take<float>(memory, wide);
    state_ = aligned_take<Partial>(memory, n);
    first_ = aligned_take<int>(memory, n);
    end_ = aligned_take<int>(memory, n);
    scores_ = aligned_take<float>(memory, n * static_cast<std::size_t>(block));
  }

  // Row `r` becomes query row i of head h.
  void load(int r, std::int64_t b, std::int64_t i, std::int64_t h) {
    const T* q = static_cast<const T*>(p_.q) + ((b * p_.q_len + i) * p_.q_heads + h) * dim_;
    Query* to = query_ + static_cast<std::ptrdiff_t>(r) * padded_;
    for (int d = 0; d < dim_; ++d) {
      if constexpr (kPairs) {
        to[d] = q[d];
      } else {
        to[d] = widen(q[d]) * (p_.scale * kLog2e);
      }
    }
    for (int d = dim_; d < padded_; ++d) to[d] = Query{};
    for (int d = 0; d < padded_; d += kLanes) vstore(out_ + r * padded_ + d, vset(0));
    state_[r] = {kNoMax, 0};
    first_[r] = p_.first_key(i);
    end_[r] = p_.end_key(i);
  }

  // Rows [row, row + rows) see keys [j, j + n) of head kv_head, and of those the ones that their masks leave. With
  // `fetch`, the block's V is fetched while its scores are computed, and K of the next block while V is summed, so that
  // memory is busy in both halves.
  void see(int row, int rows, std::int64_t b, std::int64_t kv_head, int j, int n, bool fetch) {
    const std::ptrdiff_t at = (b * p_.kv_len + j) * key_stride_ + kv_head * dim_;
    const T* k = static_cast<const T*>(p_.k) + at;
    const T* v = static_cast<const T*>(p_.v) + at;
    const std::ptrdiff_t to_value = reinterpret_cast<const char*>(v) - reinterpret_cast<const char*>(k);
    const std::ptrdiff_t to_next_key = n * key_stride_ * static_cast<std::ptrdiff_t>(sizeof(T)) - to_value;
    score(row, rows, k, n, fetch ? to_value : 0);
    float alpha[kTogether];
    for (int r = row; r < row + rows;) {
      const int together = row + rows - r >= kTogether ? kTogether : row + rows - r >= 2 ? 2 : 1;
      for (int i = 0; i < together; ++i) alpha[i] = weigh(r + i, j, n);
      const NextKeys next{fetch ? to_next_key : 0, (r - row) / kTogether, !kPairs && rows >= 2 * kTogether && dim_ > kBlock ? 2 : 1};
      if (together == kTogether) {
        accumulate<kTogether>(r, v, n, alpha, next);
      } else if (together == 2) {
        accumulate<2>(r, v, n, alpha, next);
      } else {
        accumulate<1>(r, v, n, alpha, next);
      }
      r += together;
    }
  }

  Partial partial(int r) const { return state_[r]; }

  // The row's sums over V, relative to 2^top. Once for each row, at the end.
  const float* result(int r) {
    float* out = out_ + static_cast<std::ptrdiff_t>(r) * padded_;
#if defined(START_BF16_DOT)
    if (paired_) order_pairs(out);
#endif
    return out;
  }

 private:
  static constexpr int kTogether = 4;  // rows that share a read of V

  // The next block's keys, `away` bytes from the values that are read: of `passes` passes over the values each fetches beside its blocks of columns.
  struct NextKeys {
    std::ptrdiff_t away;
    int pass, passes;

    std::ptrdiff_t beside(int d) const { return d / kBlock % passes == pass ? away : 0; }
  };
  static constexpr int kBlock = 64;  // columns

  // `fetch` here and below: bytes from what is read to what is fetched beside it, or 0.
  void score(int row, int rows, const T* k, int n, std::ptrdiff_t fetch) {
    for (int i = 0; i < n; i += 8) {
      // The last eight are moved back over keys that were done; fewer than eight repeat the last one.
      if (i + 8 > n && n >= 8) i = n - 8;
      const T* key[8];
      for (int e = 0; e < 8; ++e) key[e] = k + std::min(i + e, n - 1) * key_stride_;
      int r = row;
      // Each pass fetches its share of the lines: prefetches beyond the tens of misses that a processor has under way hold up what follows them.
      constexpr bool shared = !kPairs;  // those passes are half as long
      if (fetch != 0 && rows >= 8 && shared) {
        for (; r < row + 8; r += 2) dots<2, 2>(r, key, i, key + (r - row) / 2, fetch);
      } else if (fetch != 0 && rows >= 4 && shared) {
        for (; r < row + 4; r += 2) dots<2, 4>(r, key, i, key + (r - row) / 2, fetch);
      } else if (fetch != 0) {
        rows >= 2 ? dots<2, 8>(r, key, i, key, fetch) : dots<1, 8>(r, key, i, key, fetch);
        r += rows >= 2 ? 2 : 1;
      }
      for (; r + 2 <= row + rows; r += 2) dots<2, 0>(r, key, i, nullptr, fetch);
      if (r < row + rows) dots<1, 0>(r, key, i, nullptr, fetch);
    }
  }

#if defined(START_BF16_DOT)
  static __m512bh load_pairs(const Bf16* p, int n) {
    const __mmask32 in = n >= 32 ? ~0u : (1u << n) - 1;
    return (__m512bh)_mm512_maskz_loadu_epi16(in, p);
  }
#endif

  // scores_[r][i .. i+8) of R rows against eight keys; fetches beside every (8 / Fetched)-th of `fetched`, which ends with the keys.
  template <int R, int Fetched>
  void dots(int row, const T* const (&key)[8], int i, const T* const* fetched, std::ptrdiff_t fetch) {
    vf acc[R][8];
    for (int r = 0; r < R; ++r) {
      for (int e = 0; e < 8; ++e) acc[r][e] = vset(0);
    }
    const Query* q = query_ + static_cast<std::ptrdiff_t>(row) * padded_;
    int d = 0;
    for (; d + kStep <= dim_; d += kStep) step<R, true, Fetched>(q, key, d, acc, fetched, fetch);
    if (d < dim_) step<R, false, Fetched>(q, key, d, acc, fetched, fetch);
    for (int r = 0; r < R; ++r) {
      float* to = scores_ + (row + r) * block_ + i;
      hsum8(acc[r], to);
      if constexpr (kPairs) {
        for (int e = 0; e < 8; ++e) to[e] *= p_.scale * kLog2e;
      }
    }
  }

  // A step takes one line of each key (with AVX-512), and fetches as much ahead.
  template <int R, bool Full, int Fetched>
  void step(const Query* q, const T* const (&key)[8], int d, vf (&acc)[R][8], const T* const* fetched, std::ptrdiff_t fetch) const {
    for (int e = 0; e < Fetched; ++e) __builtin_prefetch(reinterpret_cast<const char*>(fetched[e * (8 / std::max(Fetched, 1))] + d) + fetch);
    if constexpr (kPairs) {
#if defined(START_BF16_DOT)
      __m512bh x[R];
      for (int r = 0; r < R; ++r) x[r] = (__m512bh)_mm512_loadu_si512(q + r * padded_ + d);
      for (int e = 0; e < 8; ++e) {
        const __m512bh k = Full ? (__m512bh)_mm512_loadu_si512(key[e] + d) : load_pairs(key[e] + d, dim_ - d);
        for (int r = 0; r < R; ++r) acc[r][e] = _mm512_dpbf16_ps(acc[r][e], x[r], k);
      }
#endif
    } else {
      vf x[R];
      for (int r = 0; r < R; ++r) x[r] = vload(q + r * padded_ + d);
      for (int e = 0; e < 8; ++e) {
        const vf k = Full ? vload(key[e] + d) : vload_part(key[e] + d, dim_ - d);
        for (int r = 0; r < R; ++r) acc[r][e] = vfma(x[r], k, acc[r][e]);
      }
    }
  }

  // scores_[r] becomes weights; returns the factor of what was summed before.
  float weigh(int r, int j, int n) {
    float* s = scores_ + r * block_;
    const int lo = std::max(first_[r] - j, 0), hi = std::min(end_[r] - j, n);
    vf top = vset(kNoMax);
    for (int i = 0; i < n; i += kLanes) {
      vf x = vload(s + i);
      if (i < lo || i + kLanes > hi) x = vkeep_range(x, i, lo, hi, -INFINITY);
      vstore(s + i, x);
      top = vmax(top, x);
    }
    const float new_top = std::max(state_[r].top, hmax(top));
    vf sum = vset(0);
    for (int i = 0; i < n; i += kLanes) {
      const vf w = exp2_float(vload(s + i) - vset(new_top));
      store_weights(s, i, w);
      sum += w;
    }
    float alpha[kLanes];
    vstore(alpha, exp2_float(vset(state_[r].top - new_top)));
    state_[r] = {new_top, state_[r].sum * alpha[0] + hsum(sum)};
    return alpha[0];
  }

  // In place: as floats, or for `paired_` as bfloat16 in the first half of the row's room.
  void store_weights(float* s, int i, vf w) const {
    if (paired_) {
      vstore(reinterpret_cast<Bf16*>(s) + i, w);
    } else {
      vstore(s + i, w);
    }
  }

  // out_ = alpha * out_ + weights . V for R rows.
  template <int R>
  void accumulate(int row, const T* v, int n, const float* alpha, NextKeys fetch) {
    int d = 0;
#if defined(START_BF16_DOT)
    if (paired_) {
      for (; d + 64 <= dim_; d += 64) pair_columns<R, 2>(row, v, n, alpha, d, fetch.beside(d));
      if (d < dim_) pair_columns<R, 1>(row, v, n, alpha, d, fetch.beside(d));
      return;
    }
#endif
    for (; d + 4 * kLanes <= dim_; d += 4 * kLanes) columns<R, 4, true>(row, v, n, alpha, d, fetch.beside(d));
    for (; d + kLanes <= dim_; d += kLanes) columns<R, 1, true>(row, v, n, alpha, d, fetch.beside(d));
    if (d < dim_) columns<R, 1, false>(row, v, n, alpha, d, fetch.beside(d));
  }

  template <int R, int C, bool Full>
  void columns(int row, const T* v, int n, const float* alpha, int d, std::ptrdiff_t fetch) {
    vf acc[R][C];
    float* out = out_ + static_cast<std::ptrdiff_t>(row) * padded_ + d;
    const float* w = scores_ + row * block_;
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) acc[r][c] = vload(out + r * padded_ + c * kLanes) * vset(alpha[r]);
    }
    for (int i = 0; i < n; ++i) {
      vf x[C];
      for (int c = 0; c < C; ++c) {
        const T* at = v + i * key_stride_ + d + c * kLanes;
        if (fetch != 0) __builtin_prefetch(reinterpret_cast<const char*>(at) + fetch);
        x[c] = Full ? vload(at) : vload_part(at, dim_ - d);
      }
      for (int r = 0; r < R; ++r) {
        const vf a = vset(w[r * block_ + i]);
        for (int c = 0; c < C; ++c) acc[r][c] = vfma(a, x[c], acc[r][c]);
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < C; ++c) vstore(out + r * padded_ + c * kLanes, acc[r][c]);
    }
  }

#if defined(START_BF16_DOT)
  // Two keys a step, interleaved by unpacking within 128-bit lanes: of 32 columns the first vector takes those with
  // d % 8 < 4, the second the others. order_pairs() undoes that once, at the end.
  template <int R, int C>
  void pair_columns(int row, const T* v, int n, const float* alpha, int d, std::ptrdiff_t fetch) {
    vf acc[R][2 * C];
    float* out = out_ + static_cast<std::ptrdiff_t>(row) * padded_ + d;
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < 2 * C; ++c) acc[r][c] = vload(out + r * padded_ + c * kLanes) * vset(alpha[r]);
    }
    for (int i = 0; i < n; i += 2) {
      __m512bh x[2 * C];
      for (int c = 0; c < C; ++c) {
        const T* at = v + i * key_stride_ + d + c * 32;
        if (fetch != 0) {
          __builtin_prefetch(reinterpret_cast<const char*>(at) + fetch);
          __builtin_prefetch(reinterpret_cast<const char*>(at + key_stride_) + fetch);
        }
        const __m512i even = _mm512_loadu_si512(at);
        const __m512i odd = i + 1 < n ? _mm512_loadu_si512(at + key_stride_) : _mm512_setzero_si512();
        x[2 * c] = (__m512bh)_mm512_unpacklo_epi16(even, odd);
        x[2 * c + 1] = (__m512bh)_mm512_unpackhi_epi16(even, odd);
      }
      for (int r = 0; r < R; ++r) {
        int pair;
        std::memcpy(&pair, reinterpret_cast<const Bf16*>(scores_ + (row + r) * block_) + i, 4);
        const __m512bh w = (__m512bh)_mm512_set1_epi32(pair);
        for (int c = 0; c < 2 * C; ++c) acc[r][c] = _mm512_dpbf16_ps(acc[r][c], w, x[c]);
      }
    }
    for (int r = 0; r < R; ++r) {
      for (int c = 0; c < 2 * C; ++c) vstore(out + r * padded_ + c * kLanes, acc[r][c]);
    }
  }

  void order_pairs(float* out) const {
    const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    for (int d = 0; d < dim_; d += 32) {
      const vf a = vload(out + d), b = vload(out + d + 16);
      vstore(out + d, _mm512_permutex2var_ps(a, low, b));
      vstore(out + d + 16, _mm512_permutex2var_ps(a, high, b));
    }
  }
#endif

  const Problem& p_;
  const int dim_, padded_, block_;
  const bool paired_;  // the weights go to bfloat16, and two keys at a time into the sums
  const std::ptrdiff_t key_stride_;
  Query* query_;
  float* out_;
  Partial* state_;
  int *first_, *end_;
  float* scores_;
};

// Writes x[0 .. head_dim) * factor as query row i of head h.
template <class T>
inline void store_row(const Problem& p, std::int64_t b, std::int64_t i, std::int64_t h, const float* x, float factor) {
  T* o = static_cast<T*>(p.o) + ((b * p.q_len + i) * p.q_heads + h) * p.head_dim;
  const int dim = static_cast<int>(p.head_dim);
  int d = 0;
  for (; d + kLanes <= dim; d += kLanes) vstore(o + d, vload(x + d) * vset(factor));
  for (; d < dim; ++d) put(o + d, x[d] * factor);
}

}  // namespace start
