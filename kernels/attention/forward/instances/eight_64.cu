// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_eight_64() { return instance_of<Config<__half, 64, 64, 2, 128, 2, false, Kv::eight>>("eight_64"); }

}  // namespace whet_kernels
