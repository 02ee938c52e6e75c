// SPDX-License-Identifier: Apache-2.0
//
// What may be turned without reading the kernels: one choice a line, its range beside it. Nothing but dispatch.cc
// includes this file, so that a change recompiles little. Every combination is correct; they differ in speed.
//
//   Path      which kernel (families.h)
//   TileQ     blocked: query rows of a work item, packed over the heads of a group
//   Strip     blocked: rows of the tile whose scores stay in registers together; narrow strips waste less at a mask
//   TileKv    keys of a tile; for the other paths, keys of a block
//   Threads   how many threads compute: one, or as many as the call may use
//   Staging   blocked: whether K is read in place, or K and V are staged as floats (families.h)
//   Prefetch  1: fetch the next tile or block ahead of its use
//   Walk      split: order of heads and keys
//   Multiply  split: bfloat16 in pairs, or as floats
//   Pieces    split: work items per thread that the keys are at least cut into
#pragma once

#include "families.h"

namespace start {

inline constexpr int kAll = 1 << 20;  // above any number of threads

// Prefill in float32: as many queries as keys, no window.
inline constexpr Path kPrefillF32Path = Path::blocked;  // whet:tune {Path::plain, Path::vectorised, Path::blocked} family=prefill_f32
inline constexpr int kPrefillF32TileQ = 64;  // whet:tune {32, 64, 128, 256} family=prefill_f32
inline constexpr int kPrefillF32Strip = 32;  // whet:tune {32, 64} family=prefill_f32
inline constexpr int kPrefillF32TileKv = 64;  // whet:tune {64, 96, 128, 192} family=prefill_f32
inline constexpr int kPrefillF32Threads = kAll;  // whet:tune {1, kAll} family=prefill_f32
inline constexpr Staging kPrefillF32Staging = Staging::in_place;  // whet:tune {Staging::in_place, Staging::staged} family=prefill_f32
inline constexpr int kPrefillF32Prefetch = 0;  // whet:tune {0, 1} family=prefill_f32

// Prefill in bfloat16.
inline constexpr Path kPrefillBf16Path = Path::blocked;  // whet:tune {Path::plain, Path::vectorised, Path::blocked} family=prefill_bf16
inline constexpr int kPrefillBf16TileQ = 64;  // whet:tune {32, 64, 128, 256} family=prefill_bf16
inline constexpr int kPrefillBf16Strip = 32;  // whet:tune {32, 64} family=prefill_bf16
inline constexpr int kPrefillBf16TileKv = 64;  // whet:tune {64, 96, 128, 192} family=prefill_bf16
inline constexpr int kPrefillBf16Threads = kAll;  // whet:tune {1, kAll} family=prefill_bf16
inline constexpr Staging kPrefillBf16Staging = Staging::staged;  // whet:tune {Staging::in_place, Staging::staged} family=prefill_bf16
inline constexpr int kPrefillBf16Prefetch = 0;  // whet:tune {0, 1} family=prefill_bf16

// Decode in float32: at most four queries, many keys. Bound by memory.
inline constexpr Path kDecodeF32Path = Path::vectorised;  // whet:tune {Path::plain, Path::vectorised, Path::split} family=decode_f32
inline constexpr int kDecodeF32TileKv = 64;  // whet:tune {16, 32, 64, 128, 256} family=decode_f32
inline constexpr int kDecodeF32Threads = kAll;  // whet:tune {1, kAll} family=decode_f32
inline constexpr Walk kDecodeF32Walk = Walk::by_head;  // whet:tune {Walk::by_head, Walk::by_position} family=decode_f32
inline constexpr int kDecodeF32Pieces = 1;  // whet:tune {1, 2, 4} family=decode_f32
inline constexpr int kDecodeF32Prefetch = 0;  // whet:tune {0, 1} family=decode_f32

// Decode in bfloat16.
inline constexpr Path kDecodeBf16Path = Path::split;  // whet:tune {Path::plain, Path::vectorised, Path::split} family=decode_bf16
inline constexpr int kDecodeBf16TileKv = 64;  // whet:tune {16, 32, 64, 128, 256} family=decode_bf16
inline constexpr int kDecodeBf16Threads = kAll;  // whet:tune {1, kAll} family=decode_bf16
inline constexpr Walk kDecodeBf16Walk = Walk::by_head;  // whet:tune {Walk::by_head, Walk::by_position} family=decode_bf16
inline constexpr Multiply kDecodeBf16Multiply = Multiply::pairs;  // whet:tune {Multiply::pairs, Multiply::floats} family=decode_bf16
inline constexpr int kDecodeBf16Pieces = 1;  // whet:tune {1, 2, 4} family=decode_bf16
inline constexpr int kDecodeBf16Prefetch = 0;  // whet:tune {0, 1} family=decode_bf16

// Chunked prefill: several queries behind a prefix of keys.
inline constexpr Path kChunkedPath = Path::blocked;  // whet:tune {Path::plain, Path::vectorised, Path::blocked} family=chunked
inline constexpr int kChunkedTileQ = 64;  // whet:tune {32, 64, 128, 256} family=chunked
inline constexpr int kChunkedStrip = 32;  // whet:tune {32, 64} family=chunked
inline constexpr int kChunkedTileKv = 64;  // whet:tune {64, 96, 128, 192} family=chunked
inline constexpr int kChunkedThreads = 1;  // whet:tune {1, kAll} family=chunked
inline constexpr Staging kChunkedStaging = Staging::in_place;  // whet:tune {Staging::in_place, Staging::staged} family=chunked
inline constexpr int kChunkedPrefetch = 0;  // whet:tune {0, 1} family=chunked

// A sliding window, whatever the lengths.
inline constexpr Path kWindowPath = Path::blocked;  // whet:tune {Path::plain, Path::vectorised, Path::blocked} family=window
inline constexpr int kWindowTileQ = 64;  // whet:tune {32, 64, 128, 256} family=window
inline constexpr int kWindowStrip = 32;  // whet:tune {32, 64} family=window
inline constexpr int kWindowTileKv = 64;  // whet:tune {64, 96, 128, 192} family=window
inline constexpr int kWindowThreads = kAll;  // whet:tune {1, kAll} family=window
inline constexpr Staging kWindowStaging = Staging::in_place;  // whet:tune {Staging::in_place, Staging::staged} family=window
inline constexpr int kWindowPrefetch = 0;  // whet:tune {0, 1} family=window

// Odd key lengths, and more queries than keys. With fewer than 16 keys ShortPath takes the place of Path.
inline constexpr Path kEdgePath = Path::vectorised;  // whet:tune {Path::plain, Path::vectorised, Path::blocked} family=edge
inline constexpr Path kEdgeShortPath = Path::plain;  // whet:tune {Path::plain, Path::vectorised, Path::blocked} family=edge
inline constexpr int kEdgeTileQ = 64;  // whet:tune {32, 64, 128} family=edge
inline constexpr int kEdgeStrip = 32;  // whet:tune {32, 64} family=edge
inline constexpr int kEdgeTileKv = 64;  // whet:tune {64, 96, 128} family=edge
inline constexpr int kEdgeThreads = 1;  // whet:tune {1, kAll} family=edge
inline constexpr Staging kEdgeStaging = Staging::in_place;  // whet:tune {Staging::in_place, Staging::staged} family=edge

}  // namespace start
