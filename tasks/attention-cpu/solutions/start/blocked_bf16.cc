// SPDX-License-Identifier: Apache-2.0
#include "blocked.h"

namespace start {

// Pairs along the head need an even head_dim; without the instruction, and for Staging::staged, tiles are widened.
void blocked_bf16_run(const Problem& p, const Config& c, Pool& pool, char* workspace) {
#if defined(START_BF16_DOT)
  if (c.staging == Staging::in_place && p.head_dim % 2 == 0) return blocked_by_width<Bf16, PairCell>(p, c, pool, workspace);
#endif
  blocked_by_width<Bf16, FloatCell>(p, c, pool, workspace);
}

}  // namespace start
