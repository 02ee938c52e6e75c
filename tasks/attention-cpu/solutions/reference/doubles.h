// SPDX-License-Identifier: Apache-2.0
//
// Vectors of doubles in the compiler's own notation: AVX-512 where it exists, AVX2 or plain code elsewhere.
#pragma once

#include <cstdint>
#include <cstring>

namespace reference {

#if defined(__AVX512F__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif

using Doubles [[gnu::vector_size(kLanes * 8)]] = double;
using Longs [[gnu::vector_size(kLanes * 8)]] = std::int64_t;
using Floats [[gnu::vector_size(kLanes * 4)]] = float;
using Words [[gnu::vector_size(kLanes * 4)]] = std::uint32_t;
using Halves [[gnu::vector_size(kLanes * 2)]] = std::uint16_t;

struct Bf16 {
  std::uint16_t bits;
};

template <class Vector>
inline Vector load_raw(const void* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline Doubles load(const double* from) { return load_raw<Doubles>(from); }
inline Doubles load(const float* from) { return __builtin_convertvector(load_raw<Floats>(from), Doubles); }
inline Doubles load(const Bf16* from) {
  const Words wide = __builtin_convertvector(load_raw<Halves>(from), Words) << 16;
  return __builtin_convertvector((Floats)wide, Doubles);
}
inline void store(double* to, Doubles v) { std::memcpy(to, &v, sizeof v); }
inline void store(float* to, Doubles v) {
  const Floats narrow = __builtin_convertvector(v, Floats);
  std::memcpy(to, &narrow, sizeof narrow);
}

inline double widen(float x) { return x; }
inline double widen(Bf16 x) {
  const std::uint32_t bits = std::uint32_t(x.bits) << 16;
  float f;
  std::memcpy(&f, &bits, sizeof f);
  return f;
}

inline Doubles spread(double x) { return x - Doubles{}; }

inline Doubles larger(Doubles a, Doubles b) { return a > b ? a : b; }

/// e^x for x <= 0 with a relative error below 2e-14; x below -700 counts as -700.
inline Doubles exp_of(Doubles x) {
  constexpr double kRound = 0x1.8p52;  // adding it leaves the nearest integer in the low bits
  x = larger(x, spread(-700.0));
  const Doubles shifted = x * 0x1.71547652b82fep+0 + kRound;
  const Doubles n = shifted - kRound;
  const Doubles r = (x - n * 0x1.62e42fefa0000p-1) - n * 0x1.cf79abc9e3b3ap-40;
  constexpr double kInverseFactorials[] = {1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
                                           1.0 / 120,      1.0 / 24,      1.0 / 6,      1.0 / 2,     1.0,        1.0};
  Doubles p = spread(kInverseFactorials[0]);
  for (int i = 1; i < 12; ++i) p = p * r + kInverseFactorials[i];
  return (Doubles)((Longs)p + ((Longs)shifted << 52));  // times 2^n
}

/// Rows become columns.
inline void transpose(Doubles (&v)[kLanes]) {
#if defined(__AVX512F__)
  Doubles pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = __builtin_shuffle(v[i], v[i + 1], Longs{0, 8, 2, 10, 4, 12, 6, 14});
    pairs[i + 1] = __builtin_shuffle(v[i], v[i + 1], Longs{1, 9, 3, 11, 5, 13, 7, 15});
  }
  for (int i = 0; i < 8; i += 4) {
    for (int j = 0; j < 2; ++j) {
      quads[i + j] = __builtin_shuffle(pairs[i + j], pairs[i + j + 2], Longs{0, 1, 8, 9, 4, 5, 12, 13});
      quads[i + j + 2] = __builtin_shuffle(pairs[i + j], pairs[i + j + 2], Longs{2, 3, 10, 11, 6, 7, 14, 15});
    }
  }
  for (int i = 0; i < 4; ++i) {
    v[i] = __builtin_shuffle(quads[i], quads[i + 4], Longs{0, 1, 2, 3, 8, 9, 10, 11});
    v[i + 4] = __builtin_shuffle(quads[i], quads[i + 4], Longs{4, 5, 6, 7, 12, 13, 14, 15});
  }
#else
  Doubles pairs[4];
  for (int i = 0; i < 4; i += 2) {
    pairs[i] = __builtin_shuffle(v[i], v[i + 1], Longs{0, 4, 2, 6});
    pairs[i + 1] = __builtin_shuffle(v[i], v[i + 1], Longs{1, 5, 3, 7});
  }
  for (int i = 0; i < 2; ++i) {
    v[i] = __builtin_shuffle(pairs[i], pairs[i + 2], Longs{0, 1, 4, 5});
    v[i + 2] = __builtin_shuffle(pairs[i], pairs[i + 2], Longs{2, 3, 6, 7});
  }
#endif
}

/// Lane i of the result is the sum of the lanes of v[i].
inline Doubles sums_of(const Doubles* v) {
#if defined(__AVX512F__)
  Doubles pairs[4];
  for (int i = 0; i < 4; ++i) {
    pairs[i] = __builtin_shuffle(v[2 * i], v[2 * i + 1], Longs{0, 8, 2, 10, 4, 12, 6, 14}) +
               __builtin_shuffle(v[2 * i], v[2 * i + 1], Longs{1, 9, 3, 11, 5, 13, 7, 15});
  }
  Doubles quads[2];
  for (int i = 0; i < 2; ++i) {
    quads[i] = __builtin_shuffle(pairs[2 * i], pairs[2 * i + 1], Longs{0, 1, 8, 9, 4, 5, 12, 13}) +
               __builtin_shuffle(pairs[2 * i], pairs[2 * i + 1], Longs{2, 3, 10, 11, 6, 7, 14, 15});
  }
  return __builtin_shuffle(quads[0], quads[1], Longs{0, 1, 2, 3, 8, 9, 10, 11}) +
         __builtin_shuffle(quads[0], quads[1], Longs{4, 5, 6, 7, 12, 13, 14, 15});
#else
  Doubles pairs[2];
  for (int i = 0; i < 2; ++i) {
    pairs[i] = __builtin_shuffle(v[2 * i], v[2 * i + 1], Longs{0, 4, 2, 6}) +
               __builtin_shuffle(v[2 * i], v[2 * i + 1], Longs{1, 5, 3, 7});
  }
  return __builtin_shuffle(pairs[0], pairs[1], Longs{0, 1, 4, 5}) + __builtin_shuffle(pairs[0], pairs[1], Longs{2, 3, 6, 7});
#endif
}

}  // namespace reference
