// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan.h"

namespace composed {

inline Tiles choose_tiles(const Shape& s) {
  if (s.rows() <= 16) return {s.rows(), 256};
  return {s.group > 1 ? 128 : 64, 512};
}

/// Decoding with at most this many rows per head goes through sgemv, row by row.
inline long gemv_rows(const Shape&) { return 1; }

/// bfloat16 keys and values become floats in one pass over all of them if each is used by this many rows, else block by block.
inline bool widen_first(const Shape& s) { return s.rows() > 128; }

}  // namespace composed
