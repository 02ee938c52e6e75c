// SPDX-License-Identifier: Apache-2.0
//
// From accumulators to memory: the output, or a partial result and, by the warpgroup that is last, the sum of all parts.
#pragma once

#include "forward/config.cuh"
#include "forward/softmax.cuh"
#include "ptx/barrier.cuh"

namespace whet_kernels {

// Four threads of a quad hold a 4 x 4 matrix of words, a row each in w; afterwards each holds a column.
__device__ __forceinline__ void transpose_in_quad(uint32_t (&w)[4]) {
  const int lane = threadIdx.x;
#pragma unroll
  for (int i = 0; i < 4; i += 2) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, lane & 1 ? w[i] : w[i + 1], 1);
    if (lane & 1) w[i] = other;
    else w[i + 1] = other;
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    const uint32_t other = __shfl_xor_sync(0xffffffffu, lane & 2 ? w[i] : w[i + 2], 2);
    if (lane & 2) w[i] = other;
    else w[i + 2] = other;
  }
}

template <class C>
class Epilogue {
 public:
  __device__ Epilogue(const Facts& facts, const Work& work, int group) : facts_(facts), work_(work), group_(group), lane_(threadIdx.x % 32) {
    first_row_ = 64 * group + threadIdx.x % 128 / 32 * 16 + lane_ / 4;
  }

  __device__ __forceinline__ void zeros() const {
    float o[C::kDv / 2] = {};
    const float none[2] = {0.f, 0.f};
    whole(o, none);
  }

  // `weight`: what each of the two rows is multiplied with.
  __device__ __forceinline__ void whole(const float (&o)[C::kDv / 2], const float (&weight)[2]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row_ + 8 * i;
      const bool exists = row < work_.rows;
      uint32_t* to = reinterpret_cast<uint32_t*>(static_cast<typename C::T*>(facts_.o) + offset_of(row));
#pragma unroll
      for (int block = 0; block < C::kDv / 32; ++block) {
        uint32_t w[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int at = 16 * block + 4 * j + 2 * i;
          w[j] = ptx::pack<typename C::T>(o[at] * weight[i], o[at + 1] * weight[i]);
        }
        transpose_in_quad(w);
        if (exists) *reinterpret_cast<uint4*>(to + 16 * block + 4 * (lane_ % 4)) = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }

  // `top` in exponents of 2. Returns whether this warpgroup is the last of its rows' parts, and may sum().
  __device__ __forceinline__ bool part(const float (&o)[C::kDv / 2], const float (&top)[2], const float (&sum)[2], volatile int* last) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row_ + 8 * i;
      if (row >= work_.rows) continue;
      float* to = facts_.partial + (static_cast<long long>(work_.slot) * C::kRows + row) * C::kDv + 2 * (lane_ % 4);
#pragma unroll
      for (int j = 0; j < C::kDv / 8; ++j) *reinterpret_cast<float2*>(to + 8 * j) = make_float2(o[4 * j + 2 * i], o[4 * j + 2 * i + 1]);
      if (lane_ % 4 == 0) reinterpret_cast<float2*>(facts_.partial_norms)[static_cast<long long>(work_.slot) * C::kRows + row] = make_float2(top[i], sum[i]);
    }
    __threadfence();
    ptx::named_sync(4 + group_, 128);
    if (threadIdx.x % 128 == 0) {
      unsigned* ticket = facts_.tickets + work_.ticket * C::kConsumers + group_;
      const bool is_last = atomicAdd(ticket, 1u) + 1 == static_cast<unsigned>(work_.parts);
      if (is_last) *ticket = 0;
      *last = is_last;
    }
    ptx::named_sync(4 + group_, 128);
    const bool is_last = *last != 0;
    __threadfence();
    return is_last;
  }

  __device__ __forceinline__ void sum_parts() const {
    const int rows = min(64, work_.rows - 64 * group_);
    const auto* norms = reinterpret_cast<const float2*>(facts_.partial_norms) + static_cast<long long>(work_.first_slot) * C::kRows;
    for (int i = threadIdx.x % 128; i < rows * (C::kDv / 4); i += 128) {
      const int row = 64 * group_ + i / (C::kDv / 4), column = i % (C::kDv / 4) * 4;
      float top = -INFINITY;
#pragma unroll 8
      for (int p = 0; p < work_.parts; ++p) top = fmaxf(top, __ldcg(norms + p * C::kRows + row).x);
      float sum = 0.f;
      float4 o = make_float4(0.f, 0.f, 0.f, 0.f);
      if (top != -INFINITY) {
        sum = sink_of(row, top);
        const float* from = facts_.partial + (static_cast<long long>(work_.first_slot) * C::kRows + row) * C::kDv + column;
#pragma unroll 8
        for (int p = 0; p < work_.parts; ++p) {
          const float2 norm = __ldcg(norms + p * C::kRows + row);
          const float4 x = __ldcg(reinterpret_cast<const float4*>(from + static_cast<long long>(p) * C::kRows * C::kDv));
          const float weight = ptx::exp2_approx(norm.x - top);
          sum = fmaf(norm.y, weight, sum);
          o.x = fmaf(x.x, weight, o.x);
          o.y = fmaf(x.y, weight, o.y);
          o.z = fmaf(x.z, weight, o.z);
          o.w = fmaf(x.w, weight, o.w);
        }
      }
      const float one = sum > 0.f ? 1.f / sum : 0.f;
      uint2 pairs;
      pairs.x = ptx::pack<typename C::T>(o.x * one, o.y * one);
      pairs.y = ptx::pack<typename C::T>(o.z * one, o.w * one);
      *reinterpret_cast<uint2*>(static_cast<typename C::T*>(facts_.o) + offset_of(row) + column) = pairs;
    }
  }

  // A sink's share of the denominator, relative to `top` (an exponent of 2).
  __device__ float sink_of(int row, float top) const {
    if (facts_.sink == nullptr) return 0.f;
    const float logit = __uint_as_float(static_cast<unsigned>(facts_.sink[head_of(row)]) << 16);
    return ptx::exp2_approx(fminf(logit * 1.4426950408889634f - top, 126.f));
  }
  __device__ int first_row() const { return first_row_; }

 private:
  __device__ int query_of(int row) const { return row * facts_.group_magic >> 16; }
  __device__ int head_of(int row) const { return facts_.group > 1 ? work_.head * facts_.group + row - query_of(row) * facts_.group : work_.head; }
  __device__ long long offset_of(int row) const { return (static_cast<long long>(work_.q_row + query_of(row)) * facts_.heads + head_of(row)) * C::kDv; }

  const Facts& facts_;
  const Work& work_;
  const int group_, lane_;
  int first_row_;
};

}  // namespace whet_kernels
