// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_fp16_64() { return instance_of<Config<__half, 64, 64, 3, 128, 3>>("fp16_64"); }

}  // namespace whet_kernels
