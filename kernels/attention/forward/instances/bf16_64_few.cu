// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_bf16_64_few() { return instance_of<Config<__nv_bfloat16, 64, 64, 1, 64, 4>>("bf16_64_few"); }

}  // namespace whet_kernels
