// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_f32(const Problem& p, void* stream) { return launch<float>(p, stream); }
}  // namespace attention
