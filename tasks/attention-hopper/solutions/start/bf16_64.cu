// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_bf16_64(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  return launch<Config<__nv_bfloat16, 64, 64, false, kRows64, kKeys64>>(p, plan, stream, workspace);
}
}  // namespace attention
