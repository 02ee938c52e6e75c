// SPDX-License-Identifier: Apache-2.0
//
// Measured on two cores of a Zen 5 server processor, each candidate of {32, 64, 128, 256} rows x {128 .. 1024} keys.
#pragma once

#include "plan.h"

namespace composed {

/// Products like many rows; a mask wastes what a block of rows computes beyond it.
inline Tiles choose_tiles(const Shape& s, bool is_bf16) {
  if (s.rows() <= 16) return {s.rows(), is_bf16 ? 1024 : 512};
  const bool mostly_triangle = s.causal && s.group == 1 && s.kv_len < 2 * s.q_len;
  return {std::min(s.rows(), s.window > 0 || mostly_triangle ? 64L : 128L), 512};
}

/// Decoding with at most this many rows per head goes through sgemv, row by row.
inline constexpr long kGemvRows = 1;

/// bfloat16 keys and values become floats in one pass over all of them if each is used by this many rows, else block by block.
inline bool widen_first(const Shape& s) { return s.rows() > 128; }

}  // namespace composed
