// SPDX-License-Identifier: Apache-2.0
//
// What may be turned without reading the kernels: one choice a line, its range beside it. Every combination is correct; they differ in
// speed. Columns of a head decide what fits, so tiles are chosen by them; the rest by how a scenario runs (plan.h).
//
//   Rows       query rows of a block, 16 per warp; rows of all heads of a group are packed
//   Keys       keys of a tile; two tiles are in shared memory at a time
//   Waves      blocks that keys are split for, in blocks per multiprocessor; 0 never splits
//   LeastKeys  keys that a split must have at least
//   LastFirst  1: tiles with the most keys under a causal mask are started first
#pragma once

namespace attention {

inline constexpr int kRows64 = 64;   // whet:tune {64, 128}
inline constexpr int kKeys64 = 64;   // whet:tune {32, 64, 128}
inline constexpr int kRows96 = 64;   // whet:tune {64, 128}
inline constexpr int kKeys96 = 64;   // whet:tune {32, 64, 128}
inline constexpr int kRows128 = 64;  // whet:tune {64, 128}
inline constexpr int kKeys128 = 64;  // whet:tune {32, 64, 128}
inline constexpr int kRows192 = 64;  // whet:tune {64, 128}
inline constexpr int kKeys192 = 32;  // whet:tune {32, 64}
inline constexpr int kRows256 = 64;  // whet:tune {64, 128}
inline constexpr int kKeys256 = 32;  // whet:tune {32, 64}
inline constexpr int kRowsMla = 64;  // whet:tune {32, 64}
inline constexpr int kKeysMla = 32;  // whet:tune {32, 64}

inline constexpr int kSplitWaves = 4;        // whet:tune {0, 1, 2, 4, 8}
inline constexpr int kSplitLeastKeys = 256;  // whet:tune {128, 256, 512, 1024}
inline constexpr int kSplitMost = 64;        // whet:tune {16, 32, 64, 128}
inline constexpr int kLastFirst = 1;         // whet:tune {0, 1}

}  // namespace attention
