// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstring>

#include "device.h"

namespace hopper {
namespace {

struct Sums {
  double squares, errors;
  unsigned long long elements, failing, not_finite, first;  // elements of `want` that are not exactly zero
  unsigned bound;  // bits of a float >= 0, which are ordered as it is
};

__device__ float load(const void* data, Type type, long long i) {
  return type == Type::bf16   ? __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i])
         : type == Type::fp16 ? __half2float(static_cast<const __half*>(data)[i])
                              : static_cast<const float*>(data)[i];
}

__device__ double block_sum(double value) {
  __shared__ double parts[8];
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
  __syncthreads();
  double sum = 0;
  for (double part : parts) sum += part;
  return sum;
}

__global__ void sum_squares(const float* want, long long count, Sums* sums) {
  double own = 0;
  unsigned long long elements = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) own += static_cast<double>(want[i]) * want[i], elements += want[i] != 0;
  own = block_sum(own);
  if (threadIdx.x == 0) atomicAdd(&sums->squares, own);
  atomicAdd(&sums->elements, elements);
}

__host__ __device__ double rms_of(const Sums& sums) { return sums.elements > 0 ? sqrt(sums.squares / static_cast<double>(sums.elements)) : 0; }

__global__ void sum_errors(const void* got, Type type, const float* want, long long count, float rtol, float atol, Sums* sums) {
  const auto floor = static_cast<float>(atol * rms_of(*sums));
  double errors = 0;
  float worst = 0;
  for (long long i = blockIdx.x * 256ll + threadIdx.x; i < count; i += gridDim.x * 256ll) {
    const float a = load(got, type, i), b = want[i], error = fabsf(a - b);
    if (!isfinite(a) || !isfinite(b)) {
      atomicAdd(&sums->not_finite, 1ull);
      atomicMin(&sums->first, static_cast<unsigned long long>(i));
      continue;
    }
    errors += static_cast<double>(error) * error;
    const float bound = error == 0 ? 0 : error / (rtol * fabsf(b) + floor);
    worst = fmaxf(worst, bound);
    if (bound > 1) {
      atomicAdd(&sums->failing, 1ull);
      atomicMin(&sums->first, static_cast<unsigned long long>(i));
    }
  }
  errors = block_sum(errors);
  if (threadIdx.x == 0) atomicAdd(&sums->errors, errors);
  atomicMax(&sums->bound, __float_as_uint(worst));
}

__global__ void read_pair(const void* got, Type type, const float* want, long long at, float* out) {
  out[0] = load(got, type, at);
  out[1] = want[at];
}

}  // namespace

Difference compare(const void* got, Type type, const float* want, long long count, double rtol, double atol) {
  static Sums* sums = nullptr;
  if (!sums) must(cudaMallocManaged(&sums, sizeof(Sums) + 2 * sizeof(float)), "cudaMallocManaged");
  must(cudaDeviceSynchronize(), "before comparing");
  *sums = Sums{0, 0, 0, 0, 0, ~0ull, 0};
  Difference d;
  if (count == 0) return d;
  sum_squares<<<1024, 256>>>(want, count, sums);
  sum_errors<<<1024, 256>>>(got, type, want, count, static_cast<float>(rtol), static_cast<float>(atol), sums);
  must(cudaDeviceSynchronize(), "comparing");
  float bound;
  std::memcpy(&bound, &sums->bound, sizeof bound);
  d.bound = bound;
  d.rms = rms_of(*sums);
  d.norm = sums->squares > 0 ? std::sqrt(sums->errors / sums->squares) : sums->errors > 0 ? INFINITY : 0;
  d.failing = static_cast<long long>(sums->failing);
  d.not_finite = static_cast<long long>(sums->not_finite);
  if (sums->first != ~0ull) {
    d.first = static_cast<long long>(sums->first);
    auto* pair = reinterpret_cast<float*>(sums + 1);
    read_pair<<<1, 1>>>(got, type, want, d.first, pair);
    must(cudaDeviceSynchronize(), "comparing");
    d.got = pair[0];
    d.want = pair[1];
  }
  return d;
}

}  // namespace hopper
