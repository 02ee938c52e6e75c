// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include "attend.cuh"

namespace attention {

// Enqueues the sum of the parts of every row.
const char* combine(const Problem& p, const Parts& parts, cudaStream_t stream);

}  // namespace attention
