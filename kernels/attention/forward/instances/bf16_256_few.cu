// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_bf16_256_few() { return instance_of<Config<__nv_bfloat16, 256, 256, 1, 64, 3>>("bf16_256_few"); }

}  // namespace whet_kernels
