// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "whet/candidate.h"

namespace reference {

using Index = std::int64_t;

/// One call. A "row" is a (query, head) pair of one key/value head: row = query * group + head within the group, so that
/// rows which see the same keys lie together. There are q_len * group rows per batch entry and key/value head.
struct Problem {
  Index batch, q_len, kv_len, q_heads, kv_heads, head_dim, group;
  double scale;
  bool causal;
  Index window;
  int threads;

  explicit Problem(const WhetCall& call)
      : batch(call.axes[0]), q_len(call.axes[1]), kv_len(call.axes[2]), q_heads(call.axes[3]), kv_heads(call.axes[4]),
        head_dim(call.axes[5]), group(kv_heads > 0 ? q_heads / kv_heads : 0), scale(call.scalars[0].f),
        causal(call.scalars[1].i != 0), window(call.scalars[2].i), threads(std::max(1, int(call.num_threads))) {}

  Index rows() const { return q_len * group; }
  /// Offset of a row in q and o, in elements.
  Index row_offset(Index b, Index kv_head, Index row) const {
    return ((b * q_len + row / group) * q_heads + kv_head * group + row % group) * head_dim;
  }
  /// Offset of the first key of a head in k and v; keys follow at key_stride().
  Index head_offset(Index b, Index kv_head) const { return (b * kv_len * kv_heads + kv_head) * head_dim; }
  Index key_stride() const { return kv_heads * head_dim; }
  /// Visible keys of a row: [first_key, end_key), empty if first_key >= end_key.
  Index first_key(Index row) const {
    return window > 0 ? std::max<Index>(0, row / group + kv_len - q_len - window + 1) : 0;
  }
  Index end_key(Index row) const { return causal ? std::min(kv_len, row / group + kv_len - q_len + 1) : kv_len; }
};

inline Index divide_up(Index a, Index b) { return (a + b - 1) / b; }
inline Index round_up(Index a, Index b) { return divide_up(a, b) * b; }

/// Softmax of a block of logits, merged with what earlier blocks of the row left. `logits` [0, count) is replaced by
/// exp(logit - running maximum), by exact zeros outside [low, high). Returns the factor that the row's output so far must
/// be multiplied with. `count` is a multiple of kLanes.
double softmax_block(double* logits, Index low, Index high, Index count, double* running_max, double* running_sum);

/// Many rows per head: keys and values are widened and packed once, then rows go through a register-tiled product.
std::uint64_t packed_workspace(const Problem& p);
template <class T>
void run_packed(const Problem& p, const T* q, const T* k, const T* v, float* o, double* workspace);

/// Few rows per head (decoding): keys and values are read in place, once. head_dim must be a multiple of 16.
std::uint64_t streamed_workspace(const Problem& p);
template <class T>
void run_streamed(const Problem& p, const T* q, const T* k, const T* v, float* o, double* workspace);

}  // namespace reference
