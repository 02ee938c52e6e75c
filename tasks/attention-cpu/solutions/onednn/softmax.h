// SPDX-License-Identifier: Apache-2.0
//
// What stands between the two matrix products: softmax of a row of logits, and conversions between bfloat16 and float.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace composed {

inline constexpr long kLanes = 16;

using Floats [[gnu::vector_size(64)]] = float;
using Words [[gnu::vector_size(64)]] = std::uint32_t;
using Halves [[gnu::vector_size(32)]] = std::uint16_t;

struct Bf16 {
  std::uint16_t bits;
};

inline Floats load(const float* from) {
  Floats v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
inline Floats load(const Bf16* from) {
  Halves v;
  std::memcpy(&v, from, sizeof v);
  return (Floats)(__builtin_convertvector(v, Words) << 16);
}
inline void store(float* to, Floats v) { std::memcpy(to, &v, sizeof v); }
/// Rounds to nearest even. No NaN comes here.
inline void store(Bf16* to, Floats v) {
#if defined(__AVX512BF16__)
  const __m256bh narrow = _mm512_cvtneps_pbh((__m512)v);
  std::memcpy(to, &narrow, sizeof narrow);
#else
  Words bits = (Words)v;
  bits += 0x7fff + ((bits >> 16) & 1);
  const Halves narrow = __builtin_convertvector(bits >> 16, Halves);
  std::memcpy(to, &narrow, sizeof narrow);
#endif
}

inline float widen(float x) { return x; }
inline float widen(Bf16 x) {
  const std::uint32_t bits = std::uint32_t(x.bits) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}
inline void narrow(float x, float* to) { *to = x; }
inline void narrow(float x, Bf16* to) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  to->bits = std::uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

inline Floats spread(float x) { return x - Floats{}; }

inline Floats larger(Floats a, Floats b) {
#if defined(__AVX512F__)
  return (Floats)_mm512_max_ps((__m512)a, (__m512)b);
#else
  return a > b ? a : b;
#endif
}

/// 2^x for x <= 0, relative error below 3e-7; zero, or next to it, where float has no such number.
inline Floats exp2_of(Floats x) {
#if defined(__AVX512F__)
  const Floats n = (Floats)_mm512_roundscale_ps((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  x = larger(x, spread(-126.0f));
  const Floats shifted = x + 0x1.8p23f;
  const Floats n = shifted - 0x1.8p23f;
#endif
  const Floats r = x - n;
  Floats p = spread(1.3333558146e-3f);
  p = p * r + 9.6181291076e-3f;
  p = p * r + 5.5504108665e-2f;
  p = p * r + 2.4022650696e-1f;
  p = p * r + 6.9314718056e-1f;
  p = p * r + 1.0f;
#if defined(__AVX512F__)
  return (Floats)_mm512_scalef_ps((__m512)p, (__m512)n);
#else
  return (Floats)((Words)p + ((Words)shifted << 23));
#endif
}

inline float largest_of(Floats v) {
#if defined(__AVX512F__)
  return _mm512_reduce_max_ps((__m512)v);
#else
  float m = v[0];
  for (long i = 1; i < kLanes; ++i) m = std::max(m, v[i]);
  return m;
#endif
}

inline float sum_of(Floats v) {
#if defined(__AVX512F__)
  return _mm512_reduce_add_ps((__m512)v);
#else
  float s = 0.0f;
  for (long i = 0; i < kLanes; ++i) s += v[i];
  return s;
#endif
}

/// One row of a block of logits, merged with what earlier blocks left in *peak (in units of log2, -inf at first) and *sum.
/// out[0, count) becomes 2^(factor * logit - peak) for keys in [low, high) and zero elsewhere; out may be the logits
/// themselves. Both have room for count rounded up to kLanes. Returns what the row's earlier output is multiplied with.
template <class P>
inline float softmax_row(float* logits, long low, long high, long count, float factor, P* out, float* peak, float* sum) {
  const Floats zero{};
  low = std::max(low, 0L);
  high = std::min(high, count);
  if (low >= high) {
    for (long j = 0; j < count; j += kLanes) store(out + j, zero);
    return 1.0f;
  }
  const long from = low / kLanes * kLanes;
  const long to = (high + kLanes - 1) / kLanes * kLanes;
  const Floats factors = spread(factor);
  const float hidden = factor >= 0.0f ? -INFINITY : INFINITY;
  for (long j = from; j < low; ++j) logits[j] = hidden;
  for (long j = high; j < to; ++j) logits[j] = hidden;
  Floats peaks[2] = {spread(-INFINITY), spread(-INFINITY)};
  long j = from;
  for (; j + 2 * kLanes <= to; j += 2 * kLanes) {
    peaks[0] = larger(peaks[0], load(logits + j) * factors);
    peaks[1] = larger(peaks[1], load(logits + j + kLanes) * factors);
  }
  if (j < to) peaks[0] = larger(peaks[0], load(logits + j) * factors);
  const float top = std::max(*peak, largest_of(larger(peaks[0], peaks[1])));
  const float keep = *peak == -INFINITY ? 0.0f : std::exp2(*peak - top);

  const Floats shift = spread(top);
  Floats sums[2] = {};
  for (long z = 0; z < from; z += kLanes) store(out + z, zero);
  for (j = from; j + 2 * kLanes <= to; j += 2 * kLanes) {
    const Floats a = exp2_of(load(logits + j) * factors - shift);
    const Floats b = exp2_of(load(logits + j + kLanes) * factors - shift);
    sums[0] += a;
    sums[1] += b;
    store(out + j, a);
    store(out + j + kLanes, b);
  }
  if (j < to) {
    const Floats a = exp2_of(load(logits + j) * factors - shift);
    sums[0] += a;
    store(out + j, a);
  }
  for (long z = to; z < count; z += kLanes) store(out + z, zero);
  *sum = *sum * keep + sum_of(sums[0] + sums[1]);
  *peak = top;
  return keep;
}

/// to[0, count) = factor * from[0, count).
template <class From, class To>
inline void scale_row(const From* from, long count, float factor, To* to) {
  long i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, load(from + i) * factor);
  for (; i < count; ++i) narrow(widen(from[i]) * factor, to + i);
}

}  // namespace composed
