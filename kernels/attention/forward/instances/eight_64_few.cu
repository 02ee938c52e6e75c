// SPDX-License-Identifier: Apache-2.0
#include "forward/instance.cuh"

namespace whet_kernels {

// D, Dv, consumers, keys, stages, softcap, how keys and values arrive
Instance forward_eight_64_few() { return instance_of<Config<__half, 64, 64, 1, 128, 4, false, Kv::eight>>("eight_64_few"); }

}  // namespace whet_kernels
