// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace hopper {

constexpr int kDeviceLost = 3;  // exit code: the context is gone, what follows needs a new process

inline void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(kDeviceLost);
}

}  // namespace hopper
