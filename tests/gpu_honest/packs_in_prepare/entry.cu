// SPDX-License-Identifier: Apache-2.0
// Keeps the weights, in an order of its own, in memory of its own: they stay the same until the next prepare().
#include "operator.cuh"

static __global__ void reverse(const float* w, float* packed, long dim) {
  for (long i = threadIdx.x; i < dim; i += kThreads) packed[dim - 1 - i] = w[i];
}

static __global__ void norm_packed(Args a, const float* packed) {
  const long row = blockIdx.x;
  const long long count = a.count[row];
  float part = 0;
  for (long i = threadIdx.x; i < count; i += kThreads) part += a.x[row * a.dim + i] * a.x[row * a.dim + i];
  const float mean = sum_of_block(part) / static_cast<float>(count > 0 ? count : 1);
  const float factor = count > 0 ? a.scale / sqrtf(mean + 0.01f) : 0.0f;
  for (long i = threadIdx.x; i < a.dim; i += kThreads) a.o[row * a.dim + i] = factor * a.x[row * a.dim + i] * packed[a.dim - 1 - i];
}

static whet_int32 prepare(const WhetCall* call, void** state) {
  const long dim = static_cast<long>(call->axes[1]);
  if (const cudaError_t error = cudaMalloc(state, static_cast<size_t>(dim) * 4)) return static_cast<whet_int32>(error);
  reverse<<<1, kThreads, 0, static_cast<cudaStream_t>(call->stream)>>>(static_cast<const float*>(call->tensors[2].data), static_cast<float*>(*state), dim);
  return static_cast<whet_int32>(cudaGetLastError());
}

static whet_int32 run(const WhetCall* call, void* state) {
  const Args a = read_args(call);
  norm_packed<<<static_cast<unsigned>(a.rows), kThreads, 0, a.stream>>>(a, static_cast<const float*>(state));
  return static_cast<whet_int32>(cudaGetLastError());
}

static void destroy(void* state) { cudaFree(state); }

WHET_TEST_TABLE(nullptr, prepare, run, destroy)
