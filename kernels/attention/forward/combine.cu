// SPDX-License-Identifier: Apache-2.0
#include "forward/combine.h"

#include "ptx/warp.cuh"

namespace whet_kernels {
namespace {

constexpr int kThreads = 128, kMaxParts = 1024;

__device__ float warp_max(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, mask));
  return x;
}
__device__ float warp_sum(float x) {
  for (int mask = 16; mask > 0; mask /= 2) x += __shfl_xor_sync(0xffffffffu, x, mask);
  return x;
}

// Weights of all parts of a row, by each warp for itself: `weights` ends as what each part's sums are multiplied with.
__device__ void weigh(const float2* norms, int parts, int tile_rows, float sink_logit, float scale, float* weights) {
  const int lane = threadIdx.x % 32;
  float top = -INFINITY, sum = 0.f;
  for (int p = lane; p < parts; p += 32) top = fmaxf(top, norms[p * tile_rows].x);
  top = warp_max(top);
  if (top != -INFINITY) {
    for (int p = lane; p < parts; p += 32) sum += norms[p * tile_rows].y * ptx::exp2_approx(norms[p * tile_rows].x - top);
    sum = warp_sum(sum);
  }
  if (sum > 0.f) sum += ptx::exp2_approx(fminf(sink_logit - top, 126.f));
  const float one = sum > 0.f ? scale / sum : 0.f;
  if (threadIdx.x < 32)
    for (int p = lane; p < parts; p += 32) weights[p] = sum > 0.f ? ptx::exp2_approx(norms[p * tile_rows].x - top) * one : 0.f;
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(kThreads) sum_parts(const Facts facts, int tile_rows, int dv) {
  __shared__ float weights[kMaxParts];
  __shared__ float4 sums[kThreads];
  const Work& work = facts.work[facts.first_part[blockIdx.y]];
  const int row = blockIdx.x, parts = work.parts;
  if (row >= work.rows) return;
  const int query = row * facts.group_magic >> 16, head = facts.group > 1 ? work.head * facts.group + row - query * facts.group : work.head;
  const float sink = facts.sink == nullptr ? -INFINITY : __uint_as_float(static_cast<unsigned>(facts.sink[head]) << 16) * 1.4426950408889634f;
  const float scale = facts.v_descale == nullptr ? 1.f : facts.v_descale[work.sequence * facts.kv_heads + work.kv_head];
  weigh(reinterpret_cast<const float2*>(facts.partial_norms) + static_cast<long long>(work.first_slot) * tile_rows + row, parts, tile_rows, sink, scale, weights);

  // Four columns a thread; where columns are fewer, the threads share the parts.
  const int quads = dv / 4, together = max(1, kThreads / quads), part_step = static_cast<long long>(tile_rows) * dv / 4;
  const auto* from = reinterpret_cast<const float4*>(facts.partial + (static_cast<long long>(work.first_slot) * tile_rows + row) * dv);
  T* to = static_cast<T*>(facts.o) + (static_cast<long long>(work.q_row + query) * facts.heads + head) * dv;
  const int quad = threadIdx.x % quads, first = threadIdx.x / quads;
  float4 o = make_float4(0.f, 0.f, 0.f, 0.f);
  if (first < together) {
#pragma unroll 8
    for (int p = first; p < parts; p += together) {
      const float4 x = from[static_cast<long long>(p) * part_step + quad];
      o.x = fmaf(x.x, weights[p], o.x);
      o.y = fmaf(x.y, weights[p], o.y);
      o.z = fmaf(x.z, weights[p], o.z);
      o.w = fmaf(x.w, weights[p], o.w);
    }
  }
  sums[threadIdx.x] = o;
  __syncthreads();
  if (first > 0) return;
  for (int i = 1; i < together; ++i) {
    const float4 x = sums[i * quads + quad];
    o.x += x.x;
    o.y += x.y;
    o.z += x.z;
    o.w += x.w;
  }
  *reinterpret_cast<uint2*>(to + 4 * quad) = make_uint2(ptx::pack<T>(o.x, o.y), ptx::pack<T>(o.z, o.w));
}

}  // namespace

cudaError_t combine(const Facts& facts, int tickets, int tile_rows, int dv, bool fp16, cudaStream_t stream) {
  const dim3 grid(static_cast<unsigned>(tile_rows), static_cast<unsigned>(tickets));
  if (fp16) sum_parts<__half><<<grid, kThreads, 0, stream>>>(facts, tile_rows, dv);
  else sum_parts<__nv_bfloat16><<<grid, kThreads, 0, stream>>>(facts, tile_rows, dv);
  return cudaGetLastError();
}

}  // namespace whet_kernels
