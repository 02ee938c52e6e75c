// SPDX-License-Identifier: Apache-2.0
#include "choices.h"

namespace start {
namespace {

Family family_of(const Problem& p) {
  if (p.window > 0) return Family::window;
  if (p.q_len > p.kv_len || p.kv_len % 2 == 1) return Family::edge;
  if (p.q_len <= 4) return p.bf16 ? Family::decode_bf16 : Family::decode_f32;
  if (p.q_len < p.kv_len) return Family::chunked;
  return p.bf16 ? Family::prefill_bf16 : Family::prefill_f32;
}

Config chosen(const Problem& p) {
  Config c;
  const auto tiles = [&](Path path, int tile_q, int strip, int tile_kv, int threads, Staging staging, int prefetch) {
    c = {.path = path, .tile_q = tile_q, .strip = strip, .tile_kv = tile_kv, .threads = threads, .staging = staging, .prefetch = prefetch};
  };
  const auto pieces = [&](Path path, int tile_kv, int threads, Walk walk, Multiply multiply, int count, int prefetch) {
    c = {.path = path, .tile_kv = tile_kv, .threads = threads, .walk = walk, .multiply = multiply, .pieces = count, .prefetch = prefetch};
  };
  switch (family_of(p)) {
    case Family::prefill_f32:
      tiles(kPrefillF32Path, kPrefillF32TileQ, kPrefillF32Strip, kPrefillF32TileKv, kPrefillF32Threads, kPrefillF32Staging, kPrefillF32Prefetch);
      break;
    case Family::prefill_bf16:
      tiles(kPrefillBf16Path, kPrefillBf16TileQ, kPrefillBf16Strip, kPrefillBf16TileKv, kPrefillBf16Threads, kPrefillBf16Staging,
            kPrefillBf16Prefetch);
      break;
    case Family::decode_f32:
      pieces(kDecodeF32Path, kDecodeF32TileKv, kDecodeF32Threads, kDecodeF32Walk, Multiply::floats, kDecodeF32Pieces, kDecodeF32Prefetch);
      break;
    case Family::decode_bf16:
      pieces(kDecodeBf16Path, kDecodeBf16TileKv, kDecodeBf16Threads, kDecodeBf16Walk, kDecodeBf16Multiply, kDecodeBf16Pieces, kDecodeBf16Prefetch);
      break;
    case Family::chunked:
      tiles(kChunkedPath, kChunkedTileQ, kChunkedStrip, kChunkedTileKv, kChunkedThreads, kChunkedStaging, kChunkedPrefetch);
      break;
    case Family::window:
      tiles(kWindowPath, kWindowTileQ, kWindowStrip, kWindowTileKv, kWindowThreads, kWindowStaging, kWindowPrefetch);
      break;
    case Family::edge:
      tiles(p.kv_len < 16 ? kEdgeShortPath : kEdgePath, kEdgeTileQ, kEdgeStrip, kEdgeTileKv, kEdgeThreads, kEdgeStaging, 0);
      break;
  }
  return c;
}

}  // namespace

Config choose(const Problem& p, int max_threads) {
  Config c = chosen(p);
  c.threads = std::clamp(c.threads, 1, max_threads);
  return c;
}

}  // namespace start
