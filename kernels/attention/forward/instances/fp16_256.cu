// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_fp16_256() { return instance_of<Config<__half, 256, 256, 2, 80, 2>>("fp16_256"); }

}  // namespace whet_kernels
