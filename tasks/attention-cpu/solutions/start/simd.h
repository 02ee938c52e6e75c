// SPDX-License-Identifier: Apache-2.0
//
// One vector of floats, `vf`, of kLanes lanes: AVX-512, AVX2, or GCC's portable vectors. Loads and stores need no alignment.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define START_AVX512 1
#if defined(__AVX512BF16__)
#define START_BF16_DOT 1
#endif
#elif defined(__AVX2__) && defined(__FMA__)
#define START_AVX2 1
#endif

namespace start {

struct Bf16 {
  std::uint16_t bits;
};

inline float widen(Bf16 x) {
  const std::uint32_t u = static_cast<std::uint32_t>(x.bits) << 16;
  float f;
  std::memcpy(&f, &u, 4);
  return f;
}
inline float widen(float x) { return x; }

// Rounds to nearest even; a NaN stays a NaN.
inline Bf16 narrow(float f) {
  std::uint32_t u;
  std::memcpy(&u, &f, 4);
  if ((u & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((u >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16)};
}
inline void put(float* p, float f) { *p = f; }
inline void put(Bf16* p, float f) { *p = narrow(f); }

#if defined(START_AVX512)

inline constexpr int kLanes = 16;
using vf = __m512;
inline vf vset(float x) { return _mm512_set1_ps(x); }
inline vf vload(const float* p) { return _mm512_loadu_ps(p); }
inline vf vload(const Bf16* p) {
  const __m256i h = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
inline vf vload_part(const float* p, int n) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << n) - 1), p);
}
inline vf vload_part(const Bf16* p, int n) {
  const __m256i h = _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << n) - 1), p);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}
inline void vstore(float* p, vf x) { _mm512_storeu_ps(p, x); }
inline vf vfma(vf a, vf b, vf c) { return _mm512_fmadd_ps(a, b, c); }
inline vf vmax(vf a, vf b) { return _mm512_max_ps(a, b); }
inline float hsum(vf x) { return _mm512_reduce_add_ps(x); }
inline float hmax(vf x) { return _mm512_reduce_max_ps(x); }

// Lane l keeps x where lo <= first + l < hi, else gets `other`; the bounds are saturated by the caller to fit int.
inline vf vkeep_range(vf x, int first, int lo, int hi, float other) {
  const __m512i at = _mm512_add_epi32(_mm512_set1_epi32(first),
                                      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
  const __mmask16 in = _mm512_cmpge_epi32_mask(at, _mm512_set1_epi32(lo)) &
                       _mm512_cmplt_epi32_mask(at, _mm512_set1_epi32(hi));
  return _mm512_mask_blend_ps(in, _mm512_set1_ps(other), x);
}
// Lane l keeps x where lo[l] <= at < hi[l].
inline vf vkeep_between(vf x, int at, const int* lo, const int* hi, float other) {
  const __m512i a = _mm512_set1_epi32(at);
  const __mmask16 in =
      _mm512_cmpge_epi32_mask(a, _mm512_loadu_si512(lo)) & _mm512_cmplt_epi32_mask(a, _mm512_loadu_si512(hi));
  return _mm512_mask_blend_ps(in, _mm512_set1_ps(other), x);
}

// x = whole + fraction with |fraction| <= 1/2; exp2_scale() is p * 2^whole. Far below the range the result is 0, and not
// computed: a result below the normal numbers would cost some processors over a hundred cycles.
struct Exp2Parts {
  vf whole, fraction;
  __mmask16 normal;
};
inline Exp2Parts exp2_split(vf x) {
  const vf whole = _mm512_roundscale_ps(x, 8);
  return {whole, _mm512_sub_ps(x, whole), _mm512_cmp_ps_mask(x, _mm512_set1_ps(-125.0f), _CMP_GE_OQ)};
}
inline vf exp2_scale(vf p, const Exp2Parts& e) { return _mm512_maskz_scalef_ps(e.normal, p, e.whole); }

inline void transpose(vf (&r)[kLanes]) {
  vf t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    for (int h = 0; h < 2; ++h) {
      const __m512d a = _mm512_castps_pd(t[i + h]), b = _mm512_castps_pd(t[i + h + 2]);
      r[i + 2 * h] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b));
      r[i + 2 * h + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
    }
  }
  // r[4g + c] holds, in its 128-bit quarter e, column 4e + c of rows 4g .. 4g+3.
  for (int c = 0; c < 4; ++c) {
    const vf a = _mm512_shuffle_f32x4(r[c], r[4 + c], 0x88), b = _mm512_shuffle_f32x4(r[c], r[4 + c], 0xdd);
    const vf d = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0x88), e = _mm512_shuffle_f32x4(r[8 + c], r[12 + c], 0xdd);
    t[c] = _mm512_shuffle_f32x4(a, d, 0x88);
    t[8 + c] = _mm512_shuffle_f32x4(a, d, 0xdd);
    t[4 + c] = _mm512_shuffle_f32x4(b, e, 0x88);
    t[12 + c] = _mm512_shuffle_f32x4(b, e, 0xdd);
  }
  for (int i = 0; i < 16; ++i) r[i] = t[i];
}

// out[i] = sum of the lanes of x[i].
inline void hsum8(const vf (&x)[8], float* out) {
  vf t[4];
  for (int i = 0; i < 4; ++i) {
    t[i] = _mm512_unpacklo_ps(x[2 * i], x[2 * i + 1]) + _mm512_unpackhi_ps(x[2 * i], x[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    const __m512d a = _mm512_castps_pd(t[2 * i]), b = _mm512_castps_pd(t[2 * i + 1]);
    t[i] = _mm512_castpd_ps(_mm512_unpacklo_pd(a, b)) + _mm512_castpd_ps(_mm512_unpackhi_pd(a, b));
  }
  const vf u = _mm512_shuffle_f32x4(t[0], t[1], 0x88) + _mm512_shuffle_f32x4(t[0], t[1], 0xdd);
  const __m256 lo = _mm512_castps512_ps256(u), hi = _mm512_extractf32x8_ps(u, 1);
  const __m128 a = _mm_add_ps(_mm256_castps256_ps128(lo), _mm256_extractf128_ps(lo, 1));
  const __m128 b = _mm_add_ps(_mm256_castps256_ps128(hi), _mm256_extractf128_ps(hi, 1));
  _mm_storeu_ps(out, a);
  _mm_storeu_ps(out + 4, b);
}

inline void vstore(Bf16* p, vf x) {
#if defined(START_BF16_DOT)
  const __m256i h = (__m256i)_mm512_cvtneps_pbh(x);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), h);
#else
  float t[16];
  _mm512_storeu_ps(t, x);
  for (int i = 0; i < 16; ++i) p[i] = narrow(t[i]);
#endif
}

#if defined(START_BF16_DOT)
#define START_STREAM 1
// Streaming stores past the caches, for lines that are written whole and not read again: kStreamed<T> floats, scaled, to
// `p` aligned to 64 bytes. stream_end() comes before anyone is told.
template <class T>
inline constexpr int kStreamed = 64 / sizeof(T);
inline void vstream(float* p, const float* from, vf factor) { _mm512_stream_ps(p, vload(from) * factor); }
inline void vstream(Bf16* p, const float* from, vf factor) {
  const __m512bh x = _mm512_cvtne2ps_pbh(vload(from + 16) * factor, vload(from) * factor);
  _mm512_stream_si512(reinterpret_cast<__m512i*>(p), (__m512i)x);
}
inline void stream_end() { _mm_sfence(); }
#endif

#elif defined(START_AVX2)

inline constexpr int kLanes = 8;
using vf = __m256;
inline vf vset(float x) { return _mm256_set1_ps(x); }
inline vf vload(const float* p) { return _mm256_loadu_ps(p); }
inline vf vload(const Bf16* p) {
  const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}
inline void vstore(float* p, vf x) { _mm256_storeu_ps(p, x); }
inline vf vfma(vf a, vf b, vf c) { return _mm256_fmadd_ps(a, b, c); }
inline vf vmax(vf a, vf b) { return _mm256_max_ps(a, b); }
struct Exp2Parts {
  vf whole, fraction;
};
inline Exp2Parts exp2_split(vf x) {
  x = _mm256_max_ps(x, _mm256_set1_ps(-127.0f));
  const vf n = _mm256_round_ps(x, 8);
  return {n, _mm256_sub_ps(x, n)};
}
// The biased exponent of 2^-127 is 0: the factor, and with it the result, is 0 there.
inline vf exp2_scale(vf p, const Exp2Parts& e) {
  const __m256i factor = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(e.whole), _mm256_set1_epi32(127)), 23);
  return _mm256_mul_ps(p, _mm256_castsi256_ps(factor));
}

#else

inline constexpr int kLanes = 8;
typedef float vf __attribute__((vector_size(32)));
inline vf vset(float x) { return vf{x, x, x, x, x, x, x, x}; }
inline vf vload(const float* p) {
  vf x;
  std::memcpy(&x, p, sizeof x);
  return x;
}
inline vf vload(const Bf16* p) {
  vf x;
  for (int i = 0; i < kLanes; ++i) x[i] = widen(p[i]);
  return x;
}
inline void vstore(float* p, vf x) { std::memcpy(p, &x, sizeof x); }
inline vf vfma(vf a, vf b, vf c) { return a * b + c; }
inline vf vmax(vf a, vf b) { return a > b ? a : b; }
struct Exp2Parts {
  vf whole, fraction;
};
inline Exp2Parts exp2_split(vf x) {
  x = vmax(x, vset(-127.0f));
  vf n;
  for (int i = 0; i < kLanes; ++i) n[i] = std::nearbyintf(x[i]);
  return {n, x - n};
}
inline vf exp2_scale(vf p, const Exp2Parts& e) {
  for (int i = 0; i < kLanes; ++i) p[i] = e.whole[i] < -126.0f ? 0.0f : std::ldexp(p[i], static_cast<int>(e.whole[i]));
  return p;
}

#endif

#if !defined(START_AVX512)

template <class T>
inline vf vload_part(const T* p, int n) {
  float t[kLanes] = {};
  for (int i = 0; i < n; ++i) t[i] = widen(p[i]);
  return vload(t);
}
inline void vstore(Bf16* p, vf x) {
  for (int i = 0; i < kLanes; ++i) p[i] = narrow(x[i]);
}
inline float hsum(vf x) {
  float s = 0;
  for (int i = 0; i < kLanes; ++i) s += x[i];
  return s;
}
inline float hmax(vf x) {
  float s = x[0];
  for (int i = 1; i < kLanes; ++i) s = x[i] > s ? x[i] : s;
  return s;
}
inline vf vkeep_range(vf x, int first, int lo, int hi, float other) {
  for (int i = 0; i < kLanes; ++i) x[i] = (first + i >= lo && first + i < hi) ? x[i] : other;
  return x;
}
inline vf vkeep_between(vf x, int at, const int* lo, const int* hi, float other) {
  for (int i = 0; i < kLanes; ++i) x[i] = (at >= lo[i] && at < hi[i]) ? x[i] : other;
  return x;
}
inline void transpose(vf (&r)[kLanes]) {
  vf t[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    for (int j = 0; j < kLanes; ++j) t[i][j] = r[j][i];
  }
  for (int i = 0; i < kLanes; ++i) r[i] = t[i];
}
inline void hsum8(const vf (&x)[8], float* out) {
  for (int i = 0; i < 8; ++i) out[i] = hsum(x[i]);
}

#endif

template <class T>
inline void vstore_part(T* p, vf x, int n) {
  float t[kLanes];
  vstore(t, x);
  for (int i = 0; i < n; ++i) put(p + i, t[i]);
}

}  // namespace start
