// SPDX-License-Identifier: Apache-2.0
// tests/examination/product.cc on a device, with the same bits: the products are exact in double precision and summed in the same order.
#include "whet/candidate.h"

namespace {

__global__ void product(const float* x, const float* y, float* o, long rows, long inner, long columns, double alpha) {
  for (long at = blockIdx.x * (long)blockDim.x + threadIdx.x; at < rows * columns; at += (long)gridDim.x * blockDim.x) {
    double sum = 0;
    for (long i = 0; i < inner; ++i) sum += (double)x[at / columns * inner + i] * y[i * columns + at % columns];
    o[at] = (float)(alpha * sum);
  }
}

template <int kPartsInAMillion>
whet_int32 run(const WhetCall* call, void*) {
  const long rows = (long)call->axes[0], inner = (long)call->axes[1], columns = (long)call->axes[2];
  product<<<64, 128, 0, static_cast<cudaStream_t>(call->stream)>>>(static_cast<const float*>(call->tensors[0].data), static_cast<const float*>(call->tensors[1].data),
                                                                   static_cast<float*>(call->tensors[2].data), rows, inner, columns, call->scalars[0].f * (1 + kPartsInAMillion * 1e-6));
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}

const WhetEntry kEntries[] = {{"product", nullptr, nullptr, run<0>, nullptr}, {"product.f64", nullptr, nullptr, run<0>, nullptr},
                              {"off", nullptr, nullptr, run<0>, nullptr},     {"off.f64", nullptr, nullptr, run<250>, nullptr},
                              {"alone", nullptr, nullptr, run<0>, nullptr}};
const WhetSolution kSolution = {WHET_ABI_VERSION, sizeof kEntries / sizeof kEntries[0], kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
