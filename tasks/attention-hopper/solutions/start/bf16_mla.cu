// SPDX-License-Identifier: Apache-2.0
#include "launch.cuh"

namespace attention {
// 512 columns of output would need more registers than a thread has: two blocks have 256 each and compute the same logits.
const char* launch_bf16_mla(const Problem& p, const Plan& plan, void* stream, float* workspace) {
  return launch<Config<__nv_bfloat16, 576, 256, true, kRowsMla, kKeysMla>>(p, plan, stream, workspace);
}
}  // namespace attention
