// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attend.cuh"
#include "combine.h"
#include "launch.h"

namespace attention {

template <class C>
const char* launch(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  // Said once per process: the attribute stays with the kernel.
  static const cudaError_t allowed = cudaFuncSetAttribute(attend<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::kSharedBytes);
  if (allowed != cudaSuccess) return cudaGetErrorString(allowed);
  if (p.total_q == 0) return nullptr;
  const long long outputs = static_cast<long long>(plan.splits) * p.total_q * p.heads * p.dv;
  const Parts parts = {plan.splits, workspace, reinterpret_cast<float2*>(workspace + outputs)};
  const dim3 grid(static_cast<unsigned>(plan.row_tiles), static_cast<unsigned>(p.kv_heads), static_cast<unsigned>(p.batch * plan.splits * (p.dv / C::kDv)));
  attend<C><<<grid, C::kThreads, C::kSharedBytes, static_cast<cudaStream_t>(stream)>>>(p, parts, kLastFirst != 0 && p.right >= 0);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) return cudaGetErrorString(error);
  return plan.splits > 1 ? combine(p, parts, static_cast<cudaStream_t>(stream)) : nullptr;
}

}  // namespace attention
