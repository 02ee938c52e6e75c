// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_f64(const Problem& p, void* stream) { return launch<double>(p, stream); }
}  // namespace attention
