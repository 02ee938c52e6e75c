// SPDX-License-Identifier: Apache-2.0
//
// How a call is cut into blocks. Depends on shapes and on the device only, never on contents: the host sees none.
#pragma once

#include "choices.h"
#include "problem.h"

namespace attention {

// Rows and Keys of choices.h for these columns; 0 rows where there is no kernel.
struct TileShape {
  int rows, keys;
  int columns;  // of v, per block
};
constexpr TileShape tile_shape(int d, int dv, bool mla) {
  if (mla) return d == 576 && dv == 512 ? TileShape{kRowsMla, kKeysMla, 256} : TileShape{};
  if (d == 192 && dv == 128) return {kRows192, kKeys192, 128};
  if (d != dv) return {};
  return d == 64    ? TileShape{kRows64, kKeys64, 64}
         : d == 96  ? TileShape{kRows96, kKeys96, 96}
         : d == 128 ? TileShape{kRows128, kKeys128, 128}
         : d == 192 ? TileShape{kRows192, kKeys192, 192}
         : d == 256 ? TileShape{kRows256, kKeys256, 256}
                    : TileShape{};
}

struct Plan {
  TileShape tile;
  long long row_tiles;  // of the longest sequence, per group of heads
  int splits;           // parts that the keys of each row tile are cut into
  // With splits > 1 each part leaves an unnormalised output and, per row, its greatest logit and its sum (floats, in this order).
  long long partial_floats;
};

inline Plan make_plan(const Problem& p, int multiprocessors) {
  const auto up = [](long long a, long long b) { return (a + b - 1) / b; };
  Plan plan = {};
  plan.tile = tile_shape(p.d, p.dv, p.mla);
  if (plan.tile.rows == 0) return plan;
  const long long group = p.heads / p.kv_heads, chunks = p.dv / plan.tile.columns;
  plan.row_tiles = up(p.max_q * group, plan.tile.rows);
  // Lengths are unknown here: sequences of equal length are assumed, of which each fills its last tile partly.
  const long long blocks = (p.total_q * group / plan.tile.rows + p.batch) * p.kv_heads * chunks;
  const long long seen = p.left >= 0 && p.right >= 0 && p.left + p.right + p.max_q < p.max_k ? p.left + p.right + p.max_q : p.max_k;
  long long splits = blocks > 0 ? static_cast<long long>(kSplitWaves) * multiprocessors / blocks : 1;
  if (splits > seen / kSplitLeastKeys) splits = seen / kSplitLeastKeys;
  if (splits > kSplitMost) splits = kSplitMost;
  plan.splits = splits < 1 ? 1 : static_cast<int>(splits);
  if (plan.splits > 1) plan.partial_floats = static_cast<long long>(plan.splits) * p.total_q * p.heads * (p.dv + 2);
  return plan;
}

}  // namespace attention
