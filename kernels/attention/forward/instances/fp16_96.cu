// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_fp16_96() { return instance_of<Config<__half, 96, 96, 3, 112, 3>>("fp16_96"); }

}  // namespace whet_kernels
