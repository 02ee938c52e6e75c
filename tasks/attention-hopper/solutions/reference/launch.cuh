// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attend.cuh"
#include "launch.h"

namespace attention {

template <class Number, int kColumns>
const char* launch_columns(const Problem& p, cudaStream_t stream) {
  constexpr int kBytes = sizeof(Shared<Number, kColumns>);
  cudaError_t error = cudaFuncSetAttribute(attend<Number, kColumns>, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  // A tile of each sequence may be partly filled.
  const long long tiles = p.total_q * (p.heads / p.kv_heads) / kRows + p.batch;
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(p.kv_heads), static_cast<unsigned>(p.dv / kColumns));
  attend<Number, kColumns><<<grid, kThreads, kBytes, stream>>>(p);
  error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

template <class Number>
const char* launch(const Problem& p, void* stream) {
  if (p.d % kSlice != 0) return "head_dim must be a multiple of 32";
  if (p.total_q == 0) return nullptr;
  const auto s = static_cast<cudaStream_t>(stream);
  if (p.dv % 128 == 0) return launch_columns<Number, 128>(p, s);
  if (p.dv % 96 == 0) return launch_columns<Number, 96>(p, s);
  if (p.dv % 64 == 0) return launch_columns<Number, 64>(p, s);
  return "v_dim must be a multiple of 64 or 96";
}

}  // namespace attention
