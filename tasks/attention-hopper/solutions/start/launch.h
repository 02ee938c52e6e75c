// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan.h"

namespace attention {

// Enqueue the whole of a call; null, or what is wrong. `stream` is a cudaStream_t, `workspace` has plan.partial_floats floats.
using Launch = const char*(const Problem& p, const Plan& plan, void* stream, float* workspace);
// One per file, so that a compiler can work on several: by what tensor cores multiply and by columns.
Launch launch_bf16_64, launch_bf16_96, launch_bf16_128, launch_bf16_192, launch_bf16_192_128, launch_bf16_256, launch_bf16_mla;
Launch launch_fp16_64, launch_fp16_96, launch_fp16_128, launch_fp16_192, launch_fp16_192_128, launch_fp16_256;

}  // namespace attention
