// SPDX-License-Identifier: Apache-2.0
//
// A compiled kernel as the host sees it.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "forward/work.h"

namespace whet_kernels {

struct Instance {
  const char* name;
  int type;                 // WHET_ATTENTION_BF16 or _FP16
  int d, dv;
  bool softcap;
  int rows, keys, stages;   // of a tile; in the ring
  int columns;              // of a block: the inner extent of a copy
  int consumers, ctas;      // warpgroups; CTAs per multiprocessor
  const void* kernel;
  int threads, shared_bytes;
};

using MakeInstance = Instance();
// One per file of instances/.
MakeInstance forward_bf16_64, forward_bf16_96, forward_bf16_128, forward_bf16_192, forward_bf16_192_128, forward_bf16_256;
MakeInstance forward_fp16_64, forward_fp16_128;
MakeInstance forward_bf16_64_few, forward_bf16_96_few, forward_bf16_128_few, forward_bf16_192_few, forward_bf16_256_few;
MakeInstance forward_bf16_64_softcap, forward_bf16_128_softcap, forward_bf16_256_softcap, forward_bf16_128_few_softcap, forward_bf16_256_few_softcap;

}  // namespace whet_kernels
