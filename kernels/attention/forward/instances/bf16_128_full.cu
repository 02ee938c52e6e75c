// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_bf16_128_full() { return instance_of<Config<__nv_bfloat16, 128, 128, 2, 176, 2>>("bf16_128_full"); }

}  // namespace whet_kernels
