// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_bf16_128(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  return launch<Config<__nv_bfloat16, 128, 128, false, kRows128, kKeys128>>(p, plan, stream, workspace);
}
}  // namespace attention
