// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_fp16_96(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  return launch<Config<__half, 96, 96, false, kRows96, kKeys96>>(p, plan, stream, workspace);
}
}  // namespace attention
