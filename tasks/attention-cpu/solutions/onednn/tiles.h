// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan.h"

namespace composed {

inline Tiles choose_tiles(const Shape& s, bool) {
  if (s.rows() <= 16) return {s.rows(), 256};
  return {s.group > 1 ? 128 : 64, 512};
}

/// Whether keys are transposed once, ahead of the products, rather than inside each of them.
inline bool transpose_first(const Shape& s, bool is_bf16) { return !is_bf16 && s.rows() > 128; }

/// Products of at most this many multiplications are not worth a call of the library.
inline constexpr long kTinyProduct = 1024;

}  // namespace composed
