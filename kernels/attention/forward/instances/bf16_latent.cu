// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_bf16_latent() { return instance_of<Config<__nv_bfloat16, 576, 512, 2, 64, 2, false, Kv::latent>>("bf16_latent"); }

}  // namespace whet_kernels
