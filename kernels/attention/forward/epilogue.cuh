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
    first_row_ = (C::kLatent ? 0 : 64 * group) + threadIdx.x % 128 / 32 * 16 + lane_ / 4;
  }

  __device__ __forceinline__ void zeros() const {
    float o[C::kDvOwn / 2] = {};
    const float none[2] = {0.f, 0.f};
    whole(o, none);
  }

  // `weight`: what each of the two rows is multiplied with.
  __device__ __forceinline__ void whole(const float (&o)[C::kDvOwn / 2], const float (&weight)[2]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row_ + 8 * i;
      const bool exists = row < work_.rows;
      uint32_t* to = reinterpret_cast<uint32_t*>(static_cast<typename C::Output*>(facts_.o) + offset_of(row) + first_column());
#pragma unroll
      for (int block = 0; block < C::kDvOwn / 32; ++block) {
        uint32_t w[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          const int at = 16 * block + 4 * j + 2 * i;
          w[j] = ptx::pack<typename C::Output>(o[at] * weight[i], o[at + 1] * weight[i]);
        }
        transpose_in_quad(w);
        if (exists) *reinterpret_cast<uint4*>(to + 16 * block + 4 * (lane_ % 4)) = make_uint4(w[0], w[1], w[2], w[3]);
      }
    }
  }

  // `top` in exponents of 2. Returns whether this warpgroup is the last of its rows' parts, and may sum().
  __device__ __forceinline__ bool part(const float (&o)[C::kDvOwn / 2], const float (&top)[2], const float (&sum)[2], volatile int* last) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int row = first_row_ + 8 * i;
      if (row >= work_.rows) continue;
      float* to = facts_.partial + (static_cast<long long>(work_.slot) * C::kRows + row) * C::kDv + first_column() + 2 * (lane_ % 4);
#pragma unroll
      for (int j = 0; j < C::kDvOwn / 8; ++j) *reinterpret_cast<float2*>(to + 8 * j) = make_float2(o[4 * j + 2 * i], o[4 * j + 2 * i + 1]);
      if (lane_ % 4 == 0) reinterpret_cast<float2*>(facts_.partial_norms)[static_cast<long long>(work_.slot) * C::kRows + row] = make_float2(top[i], sum[i]);
    }
    if (facts_.tickets == nullptr) return false;
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

  // `scale`: of the output.
  __device__ __forceinline__ void sum_parts(float scale) const {
    const int first = C::kLatent ? 0 : 64 * group_, rows = min(64, work_.rows - first), parts = work_.parts;
    const auto* norms = reinterpret_cast<const float2*>(facts_.partial_norms) + static_cast<long long>(work_.first_slot) * C::kRows;
    for (int i = threadIdx.x % 128; i < rows * (C::kDvOwn / 4); i += 128) {
      const int row = first + i / (C::kDvOwn / 4), column = first_column() + i % (C::kDvOwn / 4) * 4;
      const float2* norm_of_row = norms + row;
      const float* from = facts_.partial + (static_cast<long long>(work_.first_slot) * C::kRows + row) * C::kDv + column;
      float top = -INFINITY, sum = 0.f;
      float4 o = make_float4(0.f, 0.f, 0.f, 0.f);
      // Batches, so that many loads are under way at once: this is the only warpgroup that works on these rows now.
      constexpr int kBatch = 8;
      for (int first_part = 0; first_part < parts; first_part += kBatch) {
        float2 norm[kBatch];
        float4 x[kBatch];
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
          const int part = min(first_part + j, parts - 1);
          norm[j] = __ldcg(norm_of_row + part * C::kRows);
          x[j] = __ldcg(reinterpret_cast<const float4*>(from + static_cast<long long>(part) * (C::kRows * C::kDv)));
        }
        float seen = top;
#pragma unroll
        for (int j = 0; j < kBatch; ++j) seen = fmaxf(seen, norm[j].x);
        if (seen == -INFINITY) continue;
        const float before = ptx::exp2_approx(top - seen);
        top = seen;
        sum *= before;
        o.x *= before;
        o.y *= before;
        o.z *= before;
        o.w *= before;
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
          const float weight = first_part + j < parts ? ptx::exp2_approx(norm[j].x - top) : 0.f;
          sum = fmaf(norm[j].y, weight, sum);
          o.x = fmaf(x[j].x, weight, o.x);
          o.y = fmaf(x[j].y, weight, o.y);
          o.z = fmaf(x[j].z, weight, o.z);
          o.w = fmaf(x[j].w, weight, o.w);
        }
      }
      if (sum > 0.f) sum += sink_of(row, top);
      const float one = sum > 0.f ? scale / sum : 0.f;
      uint2 pairs;
      pairs.x = ptx::pack<typename C::Output>(o.x * one, o.y * one);
      pairs.y = ptx::pack<typename C::Output>(o.z * one, o.w * one);
      *reinterpret_cast<uint2*>(static_cast<typename C::Output*>(facts_.o) + offset_of(row) + column) = pairs;
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
  __device__ int first_column() const { return C::kLatent ? group_ * C::kDvOwn : 0; }
  __device__ int query_of(int row) const { return row * facts_.group_magic >> 16; }
  __device__ int head_of(int row) const { return facts_.group > 1 ? work_.head * facts_.group + row - query_of(row) * facts_.group : work_.head; }
  __device__ long long offset_of(int row) const { return (static_cast<long long>(work_.q_row + query_of(row)) * facts_.heads + head_of(row)) * C::kDv; }

  const Facts& facts_;
  const Work& work_;
  const int group_, lane_;
  int first_row_;
};

}  // namespace whet_kernels
