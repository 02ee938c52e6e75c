// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
const char* launch_fp16_192_128(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  return launch<Config<__half, 192, 128, false, kRows192, kKeys192>>(p, plan, stream, workspace);
}
}  // namespace attention
