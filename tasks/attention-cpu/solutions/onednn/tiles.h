// SPDX-License-Identifier: Apache-2.0
//
// Measured on two cores of a Zen 5 server processor, each candidate of {32, 64, 96, 128, 256} rows x {256 .. 4096} keys.
#pragma once

#include "plan.h"

namespace composed {

/// Products like many rows; a mask wastes what a block of rows computes beyond it.
inline Tiles choose_tiles(const Shape& s, bool is_bf16) {
  if (s.rows() <= 16) return {s.rows(), is_bf16 ? 4096 : 512};
  if (is_bf16) return {std::min(s.rows(), 128L), 512};
  const bool mostly_triangle = s.causal && s.group == 1 && s.kv_len < 2 * s.q_len;
  return {std::min(s.rows(), s.dim >= 192 || mostly_triangle ? 64L : 128L), 512};
}

/// Whether keys are transposed once, ahead of the products, rather than inside each of them.
inline bool transpose_first(const Shape& s, bool is_bf16) { return !is_bf16 && s.rows() > 128; }

/// Products of at most this many multiplications are not worth a call of the library.
inline constexpr long kTinyProduct = 1024;

}  // namespace composed
