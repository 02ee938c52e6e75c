// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_bf16_192(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  return launch<Config<__nv_bfloat16, 192, 192, false, kRows192, kKeys192>>(p, plan, stream, workspace);
}
}  // namespace attention
