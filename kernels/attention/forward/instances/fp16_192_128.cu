// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_fp16_192_128() { return instance_of<Config<__half, 192, 128, 2, 128, 2>>("fp16_192_128"); }

}  // namespace whet_kernels
