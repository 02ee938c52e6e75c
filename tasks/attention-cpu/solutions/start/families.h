// SPDX-License-Identifier: Apache-2.0
//
// The call as the kernels see it, and what the choices decide about it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>


namespace start {

enum class Family { prefill_f32, prefill_bf16, decode_f32, decode_bf16, chunked, window, edge };

// plain: one query row at a time in scalar code. vectorised: one row at a time, online softmax over blocks of keys.
// blocked: tiles of query rows against tiles of keys with register-blocked products.
// split: all query heads of a key head together, so that each key is read once; the keys are split among threads.
enum class Path { plain, vectorised, blocked, split };

// How `blocked` reads K. in_place: where it lies; in bfloat16 by dot products of pairs, with V interleaved by pairs of keys.
// staged: each tile is first copied to a dense float buffer, widened where it is bfloat16. V is always copied: its rows
// often lie a power of two apart, and would share few cache sets.
enum class Staging { in_place, staged };

// The order in which `split` walks. by_head: all keys of one head, then the next. by_position: all heads of a block of
// keys, then the next block: K and V are read as one stream.
enum class Walk { by_head, by_position };

// How `split` multiplies bfloat16. pairs: by dot products of pairs, at half or twice the speed of floats, as the processor
// has it. floats: widened as it is read.
enum class Multiply { pairs, floats };

struct Config {
  Path path = Path::vectorised;
  int tile_q = 32;    // query rows of a tile (packed over the heads of a group); a multiple of 16
  int strip = 32;     // query rows of a strip of the tile, whose scores are in registers at once: 16, 32, 48 or 64
  int tile_kv = 64;   // keys of a tile or block; a multiple of 16
  int threads = 1;
  Staging staging = Staging::in_place;
  Walk walk = Walk::by_head;
  Multiply multiply = Multiply::pairs;
  int pieces = 1;     // `split` makes at least threads * pieces work items where the keys allow
  int prefetch = 0;   // 1: what the next tile or block needs is fetched ahead
};

struct Problem {
  std::int64_t batch, q_len, kv_len, q_heads, kv_heads, head_dim;
  float scale;
  bool causal;
  std::int64_t window;
  bool bf16;
  const void* q;
  const void* k;
  const void* v;
  void* o;

  std::int64_t group() const { return q_heads / kv_heads; }
  // Keys [first_key, end_key) are visible to query row i; empty when first_key >= end_key. Both never decrease with i.
  int first_key(std::int64_t i) const {
    const std::int64_t p = i + kv_len - q_len;
    return window > 0 ? static_cast<int>(std::clamp<std::int64_t>(p - window + 1, 0, kv_len)) : 0;
  }
  int end_key(std::int64_t i) const {
    const std::int64_t p = i + kv_len - q_len;
    return static_cast<int>(causal ? std::clamp<std::int64_t>(p + 1, 0, kv_len) : kv_len);
  }
};

inline constexpr float kLog2e = 1.44269504088896340736f;
// Below every score, and finite: a difference of two running maxima is never a NaN.
inline constexpr float kNoMax = -1e30f;

template <class T>
inline T* aligned_take(char*& at, std::size_t count) {
  T* p = reinterpret_cast<T*>(at);
  at += (count * sizeof(T) + 63) / 64 * 64;
  return p;
}

class Pool;
using Kernel = void (*)(const Problem&, const Config&, Pool&, char* workspace);

// The scratch and the run of each path; `workspace` is aligned to 64 bytes.
std::size_t plain_workspace(const Problem& p, const Config& c);
void plain_run(const Problem& p, const Config& c, Pool& pool, char* workspace);
std::size_t rows_workspace(const Problem& p, const Config& c);
void rows_run(const Problem& p, const Config& c, Pool& pool, char* workspace);
std::size_t split_workspace(const Problem& p, const Config& c);
void split_run(const Problem& p, const Config& c, Pool& pool, char* workspace);
std::size_t blocked_workspace(const Problem& p, const Config& c);
void blocked_f32_run(const Problem& p, const Config& c, Pool& pool, char* workspace);
void blocked_bf16_run(const Problem& p, const Config& c, Pool& pool, char* workspace);

// The committed choices for this call.
Config choose(const Problem& p, int max_threads);

}  // namespace start
