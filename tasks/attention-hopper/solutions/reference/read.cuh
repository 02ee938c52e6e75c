// SPDX-License-Identifier: Apache-2.0
//
// Elements as numbers, keys as rows, and which keys a row sees.
#pragma once

#include <cuda_runtime.h>

#include "problem.h"

namespace attention {

__device__ inline float from_bf16(unsigned bits) { return __uint_as_float(bits << 16); }

__device__ inline float from_fp16(unsigned bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(static_cast<unsigned short>(bits)));
  return value;
}

// By the format's definition: 4 exponent bits of bias 7, 3 mantissa bits, no infinities; 0x7f is NaN.
__device__ inline float from_e4m3(unsigned bits) {
  const unsigned exponent = (bits >> 3) & 15u, mantissa = bits & 7u;
  const float magnitude = (bits & 127u) == 127u ? __uint_as_float(0x7fc00000u)
                          : exponent == 0       ? static_cast<float>(mantissa) * 0x1p-9f
                                                : __uint_as_float(((exponent + 120u) << 23) | (mantissa << 20));
  return bits & 128u ? -magnitude : magnitude;
}

// Elements [index, index + 8) of a tensor; index is a multiple of 8.
template <class Number>
__device__ void read8(const void* tensor, Kind kind, long long index, Number* out) {
  if (kind == Kind::e4m3) {
    const uint2 words = *reinterpret_cast<const uint2*>(static_cast<const char*>(tensor) + index);
    for (int i = 0; i < 8; ++i) out[i] = from_e4m3(((i < 4 ? words.x : words.y) >> (8 * (i & 3))) & 255u);
    return;
  }
  const uint4 words = *reinterpret_cast<const uint4*>(static_cast<const char*>(tensor) + 2 * index);
  const unsigned pairs[4] = {words.x, words.y, words.z, words.w};
  for (int i = 0; i < 8; ++i) {
    const unsigned bits = (pairs[i / 2] >> (16 * (i & 1))) & 0xffffu;
    out[i] = kind == Kind::bf16 ? from_bf16(bits) : from_fp16(bits);
  }
}

// One sequence of the batch.
struct Sequence {
  int index;
  long long first_q, rows, keys, first_key;  // first_key: keys before it do not exist
};

__device__ inline Sequence sequence_of(const Problem& p, int index) {
  Sequence s;
  s.index = index;
  s.first_q = p.first_q ? p.first_q[index] : index * p.q_len;
  s.rows = p.first_q ? p.first_q[index + 1] - p.first_q[index] : p.q_len;
  s.keys = p.first_k ? p.first_k[index + 1] - p.first_k[index] : p.used_k ? p.used_k[index] : p.kv_len;
  s.first_key = p.leftpad ? p.leftpad[index] : 0;
  return s;
}

// The row of k and v in memory where key j of the sequence stands.
__device__ inline long long key_row(const Problem& p, const Sequence& s, long long j) {
  if (p.page_table) return p.page_table[s.index * p.pages_per_seq + j / p.page_size] * p.page_size + j % p.page_size;
  return p.first_k ? p.first_k[s.index] + j : s.index * p.kv_len + j;
}

// The first and last key that query row i sees; none where last < first.
__device__ inline long long first_visible(const Problem& p, const Sequence& s, long long i) {
  const long long low = p.left < 0 ? 0 : i + s.keys - s.rows - p.left;
  return low > s.first_key ? low : s.first_key;
}
__device__ inline long long last_visible(const Problem& p, const Sequence& s, long long i) {
  const long long high = p.right < 0 ? s.keys - 1 : i + s.keys - s.rows + p.right;
  return high < s.keys - 1 ? high : s.keys - 1;
}

}  // namespace attention
