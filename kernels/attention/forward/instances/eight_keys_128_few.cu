// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_eight_keys_128_few() { return instance_of<Config<__nv_bfloat16, 128, 128, 1, 64, 2, false, Kv::eight_keys>>("eight_keys_128_few"); }

}  // namespace whet_kernels
