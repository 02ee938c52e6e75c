// SPDX-License-Identifier: Apache-2.0
// What the Solutions of the judge's GPU tests share: the arguments by name and an honest kernel. The test adds this file to each of them.
#pragma once

#include <cuda_runtime.h>

#include "whet/candidate.h"

struct Args {
  long rows, dim;  // dim is a multiple of 64
  const float* x;
  const long long* count;
  const float* w;
  float scale;
  float* o;
  cudaStream_t stream;
  __host__ __device__ long elements() const { return rows * dim; }
  size_t bytes() const { return static_cast<size_t>(elements()) * 4; }
};

inline Args read_args(const WhetCall* call) {
  const WhetTensor* t = call->tensors;
  return {static_cast<long>(call->axes[0]),
          static_cast<long>(call->axes[1]),
          static_cast<const float*>(t[0].data),
          static_cast<const long long*>(t[1].data),
          static_cast<const float*>(t[2].data),
          static_cast<float>(call->scalars[0].f),
          static_cast<float*>(t[3].data),
          static_cast<cudaStream_t>(call->stream)};
}

constexpr int kThreads = 256;

// Of all threads of a block; every thread gets it.
__device__ inline float sum_of_block(float part) {
  __shared__ float parts[kThreads / 32];
  for (int step = 16; step > 0; step /= 2) part += __shfl_xor_sync(~0u, part, step);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = part;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < kThreads / 32; ++i) sum += parts[i];
  __syncthreads();
  return sum;
}

// One row, by one block.
__device__ inline void norm_row(const Args& a, long row) {
  const long long count = a.count[row];
  const float4* x = reinterpret_cast<const float4*>(a.x + row * a.dim);
  const float4* w = reinterpret_cast<const float4*>(a.w);
  float4* o = reinterpret_cast<float4*>(a.o + row * a.dim);
  float part = 0;
  for (long i = threadIdx.x; 4 * i < count; i += kThreads) {
    const float4 v = x[i];
    const float all[] = {v.x, v.y, v.z, v.w};
    for (int j = 0; j < 4; ++j) part += 4 * i + j < count ? all[j] * all[j] : 0.0f;
  }
  const float mean = count > 0 ? sum_of_block(part) / static_cast<float>(count) : 0.0f;
  const float factor = count > 0 ? a.scale / sqrtf(mean + 0.01f) : 0.0f;
  for (long i = threadIdx.x; i < a.dim / 4; i += kThreads) {
    if (count == 0) {
      o[i] = make_float4(0, 0, 0, 0);
      continue;
    }
    const float4 v = x[i], f = w[i];
    o[i] = make_float4(v.x * factor * f.x, v.y * factor * f.y, v.z * factor * f.z, v.w * factor * f.w);
  }
}

static __global__ void norm_rows(Args a, long first, long end) {
  for (long row = first + blockIdx.x; row < end; row += gridDim.x) norm_row(a, row);
}

// Rows [first, end), on `stream`.
inline int launch_rows(const Args& a, long first, long end, cudaStream_t stream) {
  if (end > first) norm_rows<<<static_cast<unsigned>(end - first), kThreads, 0, stream>>>(a, first, end);
  return static_cast<int>(cudaGetLastError());
}
inline int launch(const Args& a) { return launch_rows(a, 0, a.rows, a.stream); }

#define WHET_TEST_TABLE(workspace_bytes, prepare, run, destroy)                                        \
  extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) {                                  \
    static const WhetEntry entries[] = {{"masked_norm", workspace_bytes, prepare, run, destroy}};      \
    static const WhetSolution solution = {WHET_ABI_VERSION, 1, entries};                               \
    return &solution;                                                                                  \
  }
#define WHET_TEST_SOLUTION(run) WHET_TEST_TABLE(nullptr, nullptr, run, nullptr)
