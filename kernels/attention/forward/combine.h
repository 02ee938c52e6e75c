// SPDX-License-Identifier: Apache-2.0
//
// The second launch, for rows whose many parts one warpgroup would add up too slowly: a block per row.
#pragma once

#include <cuda_runtime_api.h>

#include "forward/work.h"

namespace whet_kernels {

// `tile_rows`: rows of a partial result; `fp16`: the output's type, else bfloat16.
cudaError_t combine(const Facts& facts, int tickets, int tile_rows, int dv, bool fp16, cudaStream_t stream);

}  // namespace whet_kernels
