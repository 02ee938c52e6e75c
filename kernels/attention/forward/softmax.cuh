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

  // Scores become weights. kMasked: a row may have seen no key yet.
  template <bool kMasked, int kCount>
  __device__ __forceinline__ void step(float (&s)[kCount], float logit_scale) {
    // A warp is alone with its instructions here, so chains are short and many: four of each row.
    float most[2][4];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int c = 0; c < 4; ++c) most[i][c] = s[4 * (c / 2) + 2 * i + c % 2];
#pragma unroll
    for (int j = 2; j < kCount / 4; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int e = 0; e < 2; ++e) most[i][2 * (j % 2) + e] = fmaxf(most[i][2 * (j % 2) + e], s[4 * j + 2 * i + e]);
    float seen[2], offset[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) seen[i] = fmaxf(fmaxf(most[i][0], most[i][1]), fmaxf(most[i][2], most[i][3]));
#pragma unroll
    for (int distance = 1; distance <= 2; distance *= 2)
#pragma unroll
      for (int i = 0; i < 2; ++i) seen[i] = fmaxf(seen[i], __shfl_xor_sync(0xffffffffu, seen[i], distance));
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      seen[i] = fmaxf(seen[i], top[i]);
      const float used = (seen[i] - top[i]) * logit_scale > kSlack ? seen[i] : top[i];
      scale[i] = used == top[i] ? 1.f : ptx::exp2_approx((top[i] - used) * logit_scale);
      top[i] = used;
      offset[i] = kMasked && used == -INFINITY ? 0.f : used * logit_scale;
    }
    float total[2][2] = {};
#pragma unroll
    for (int j = 0; j < kCount / 4; ++j)
#pragma unroll
      for (int i = 0; i < 2; ++i)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = s[4 * j + 2 * i + e];
          x = ptx::exp2_approx(fmaf(x, logit_scale, -offset[i]));
          total[i][e] += x;
        }
#pragma unroll
    for (int i = 0; i < 2; ++i) sum[i] = fmaf(sum[i], scale[i], total[i][0] + total[i][1]);
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
