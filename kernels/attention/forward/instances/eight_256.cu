// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_eight_256() { return instance_of<Config<__half, 256, 256, 2, 80, 2, false, Kv::eight>>("eight_256"); }

}  // namespace whet_kernels
