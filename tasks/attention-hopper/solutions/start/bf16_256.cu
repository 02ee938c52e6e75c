// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_bf16_256(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  return launch<Config<__nv_bfloat16, 256, 256, false, kRows256, kKeys256>>(p, plan, stream, workspace);
}
}  // namespace attention
