// SPDX-License-Identifier: Apache-2.0
#include "blocked.h"

namespace start {

std::size_t blocked_workspace(const Problem& p, const Config& c) {
  return (BlockedItem<float, FloatCell, 1>::scratch_bytes(p, c) + 4095) / 4096 * 4096 * static_cast<std::size_t>(c.threads);
}

void blocked_f32_run(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  blocked_by_width<float, FloatCell>(p, c, pool, workspace);
}

}  // namespace start
