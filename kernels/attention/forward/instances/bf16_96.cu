// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_bf16_96() { return instance_of<Config<__nv_bfloat16, 96, 96, 3, 112, 3>>("bf16_96"); }

}  // namespace whet_kernels
