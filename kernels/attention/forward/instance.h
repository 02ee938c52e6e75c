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
  int q_type, kv_type;            // of attention.h
  bool latent, softcap;
  int d, dv;
  int rows, keys, stages;         // of a tile; of the ring that copies fill
  int row_bytes, row_bytes_v;     // of a block of Q and K, of V: the swizzle
  bool plain_k, plain_v;          // copied as plain rows, for the converter
  int consumers, ctas;            // warpgroups; CTAs per multiprocessor
  const void* kernel;
  int threads, shared_bytes;
};

using MakeInstance = Instance();
// One per file of instances/.
MakeInstance forward_bf16_64, forward_bf16_96, forward_bf16_128, forward_bf16_128_full, forward_bf16_192, forward_bf16_192_128, forward_bf16_256;
MakeInstance forward_fp16_64, forward_fp16_96, forward_fp16_128, forward_fp16_192, forward_fp16_192_128, forward_fp16_256;
MakeInstance forward_bf16_64_few, forward_bf16_96_few, forward_bf16_128_few, forward_bf16_192_few, forward_bf16_256_few;
MakeInstance forward_bf16_64_softcap, forward_bf16_128_softcap, forward_bf16_256_softcap, forward_bf16_128_few_softcap, forward_bf16_256_few_softcap;
MakeInstance forward_bf16_latent;
MakeInstance forward_eight_64, forward_eight_128, forward_eight_256, forward_eight_64_few, forward_eight_128_few, forward_eight_256_few, forward_eight_keys_128_few;

}  // namespace whet_kernels
