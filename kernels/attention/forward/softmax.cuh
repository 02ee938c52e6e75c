// SPDX-License-Identifier: Apache-2.0
//
// Online softmax over the score tile of one warpgroup. A thread holds, of two rows, columns 8 j + 2 (lane % 4) + {0, 1}: s[4 j + {0, 1}] of the
// first and s[4 j + {2, 3}] of the second row, eight rows below.
#pragma once

#include "forward/work.h"
#include "ptx/warp.cuh"

namespace whet_kernels {

// Which keys the thread's two rows see: [low, high).
struct Sight {
  int low[2], high[2];

  __device__ Sight(const Facts& facts, const Work& work, int first_row) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int at = work.position + ((first_row + 8 * i) * facts.group_magic >> 16);
      high[i] = facts.right >= 0 ? min(work.keys, at + facts.right + 1) : work.keys;
      low[i] = facts.left >= 0 ? max(work.first_key, at - facts.left) : work.first_key;
    }
  }
};

template <int kCount>
__device__ __forceinline__ void hide(float (&s)[kCount], const Sight& sight, int first_column) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const int low = sight.low[i] - first_column, high = sight.high[i] - first_column;
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int column = 8 * j + e;
        float& score = s[4 * j + 2 * i + e];
        score = column < high && column >= low ? score : -INFINITY;
      }
  }
}

__device__ __forceinline__ float of_quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ __forceinline__ float of_quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

struct Softmax {
  // The greatest logit may grow by this much (a factor of 256) before sums and outputs are scaled anew.
  static constexpr float kSlack = 8.f;

  float top[2] = {-INFINITY, -INFINITY};  // raw score that exponents are relative to
  float sum[2] = {0.f, 0.f};              // of this thread's columns
  float scale[2] = {1.f, 1.f};            // of what was summed before the last step

  // Scores become weights. kMasked: a row may have seen no key yet. kShared: products take a quarter of the exponentials, where the special function
  // unit would be the bottleneck.
  template <bool kMasked, bool kShared, int kCount>
  __device__ __forceinline__ void step(float (&s)[kCount], float logit_scale) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float a = s[2 * i], b = s[2 * i + 1];
#pragma unroll
      for (int j = 1; j < kCount / 4; ++j) {
        a = fmaxf(a, s[4 * j + 2 * i]);
        b = fmaxf(b, s[4 * j + 2 * i + 1]);
      }
      const float seen = fmaxf(top[i], of_quad_max(fmaxf(a, b)));
      const float used = (seen - top[i]) * logit_scale > kSlack ? seen : top[i];
      scale[i] = used == top[i] ? 1.f : ptx::exp2_approx((top[i] - used) * logit_scale);
      top[i] = used;
      const float offset = kMasked && used == -INFINITY ? 0.f : used * logit_scale;
      a = 0.f;
      b = 0.f;
#pragma unroll
      for (int j = 0; j < kCount / 4; ++j) {
        float &x = s[4 * j + 2 * i], &y = s[4 * j + 2 * i + 1];
        x = fmaf(x, logit_scale, -offset);
        y = fmaf(y, logit_scale, -offset);
        const bool by_products = kShared && !kMasked && j % 4 == 3;  // weights of hidden keys are exactly 0
        x = by_products ? ptx::exp2_by_products(x) : ptx::exp2_approx(x);
        y = by_products ? ptx::exp2_by_products(y) : ptx::exp2_approx(y);
        a += x;
        b += y;
      }
      sum[i] = fmaf(sum[i], scale[i], a + b);
    }
  }

  template <int kCount>
  __device__ __forceinline__ void rescale(float (&o)[kCount]) const {
    if (!__any_sync(0xffffffffu, scale[0] != 1.f || scale[1] != 1.f)) return;
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j) {
      o[4 * j] *= scale[0];
      o[4 * j + 1] *= scale[0];
      o[4 * j + 2] *= scale[1];
      o[4 * j + 3] *= scale[1];
    }
  }
};

}  // namespace whet_kernels
