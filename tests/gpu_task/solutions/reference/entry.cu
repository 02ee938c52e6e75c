// SPDX-License-Identifier: Apache-2.0
// In double precision; a row by one block.
#include <cuda_runtime.h>

#include "whet/candidate.h"

namespace {

__global__ void norm(const float* x, const long long* count, const float* w, double scale, float* o, long dim) {
  __shared__ double parts[256];
  const long row = blockIdx.x;
  double part = 0;
  for (long i = threadIdx.x; i < count[row]; i += 256) part += static_cast<double>(x[row * dim + i]) * x[row * dim + i];
  parts[threadIdx.x] = part;
  __syncthreads();
  double sum = 0;
  for (int i = 0; i < 256; ++i) sum += parts[i];
  const double factor = count[row] > 0 ? scale / sqrt(sum / static_cast<double>(count[row]) + 0.01) : 0.0;
  // Not 0 times something, which may be -0: then zeros would not be the reference's own answer, to the bit.
  for (long i = threadIdx.x; i < dim; i += 256) o[row * dim + i] = count[row] > 0 ? static_cast<float>(factor * x[row * dim + i] * w[i]) : 0.0f;
}

whet_int32 run(const WhetCall* call, void*) {
  const WhetTensor* t = call->tensors;
  norm<<<static_cast<unsigned>(call->axes[0]), 256, 0, static_cast<cudaStream_t>(call->stream)>>>(
      static_cast<const float*>(t[0].data), static_cast<const long long*>(t[1].data), static_cast<const float*>(t[2].data), call->scalars[0].f,
      static_cast<float*>(t[3].data), static_cast<long>(call->axes[1]));
  return static_cast<whet_int32>(cudaGetLastError());
}

constexpr WhetEntry kEntries[] = {{"masked_norm", nullptr, nullptr, run, nullptr}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 1, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
