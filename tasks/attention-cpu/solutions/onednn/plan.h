// SPDX-License-Identifier: Apache-2.0
//
// How a call is cut into pieces of work that threads take one by one.
#pragma once

#include <algorithm>
#include <vector>

#include "whet/candidate.h"

namespace composed {

inline long round_up(long a, long b) { return (a + b - 1) / b * b; }

/// Rows of a key/value head: query i of the group's head g is row i * group + g, so that one matrix product serves all
/// query heads of the group, in decoding too.
struct Shape {
  long batch, q_len, kv_len, q_heads, kv_heads, dim, group, window;
  float scale;
  bool causal;
  int threads;

  explicit Shape(const WhetCall& call)
      : batch(call.axes[0]), q_len(call.axes[1]), kv_len(call.axes[2]), q_heads(call.axes[3]), kv_heads(call.axes[4]),
        dim(call.axes[5]), group(kv_heads > 0 ? q_heads / kv_heads : 0), window(call.scalars[2].i),
        scale(float(call.scalars[0].f)), causal(call.scalars[1].i != 0), threads(std::max(1, int(call.num_threads))) {}

  long rows() const { return q_len * group; }
  long q_offset(long b, long head, long row) const {
    return ((b * q_len + row / group) * q_heads + head * group + row % group) * dim;
  }
  long kv_offset(long b, long head, long key) const { return ((b * kv_len + key) * kv_heads + head) * dim; }
  long kv_stride() const { return kv_heads * dim; }
  /// Whether the rows of a head lie at one stride in q and o; that stride, or 0.
  long row_stride() const { return group == 1 ? q_heads * dim : kv_heads == 1 ? dim : 0; }
  long first_key(long row) const { return window > 0 ? std::max(0L, row / group + kv_len - q_len - window + 1) : 0; }
  long end_key(long row) const { return causal ? std::min(kv_len, row / group + kv_len - q_len + 1) : kv_len; }
};

struct Tiles {
  long rows;  // rows of a task
  long keys;  // keys of a block, a multiple of 16: rows * keys logits stay in cache between the two products
};

/// Rows [row0, row0 + rows) of a head over keys [key0, key1), which may be none. `part` is -1, or where its partial result goes.
struct Task {
  long b, head, row0, rows, key0, key1, part;
};

struct Cut {
  std::vector<Task> tasks;   // the largest first
  std::vector<Task> merges;  // rows whose keys were split: `part` is the first of `parts_each`
  long parts = 0;
  long parts_each = 1;
};

/// Keys are split over tasks only where rows alone do not fill the threads.
inline Cut cut_work(const Shape& s, const Tiles& tiles, long min_split) {
  Cut cut;
  const long row_tasks = s.batch * s.kv_heads * ((s.rows() + tiles.rows - 1) / tiles.rows);
  if (row_tasks > 0 && row_tasks < s.threads) {
    cut.parts_each = std::clamp(s.threads / row_tasks, 1L, std::max(1L, s.kv_len / min_split));
  }
  for (long b = 0; b < s.batch; ++b) {
    for (long head = 0; head < s.kv_heads; ++head) {
      for (long row0 = 0; row0 < s.rows(); row0 += tiles.rows) {
        const long rows = std::min(tiles.rows, s.rows() - row0);
        const long first = s.first_key(row0);
        const long end = std::max(first, s.end_key(row0 + rows - 1));
        if (cut.parts_each == 1) {
          cut.tasks.push_back({b, head, row0, rows, first, end, -1});
          continue;
        }
        cut.merges.push_back({b, head, row0, rows, first, end, cut.parts});
        const long step = round_up((end - first + cut.parts_each - 1) / cut.parts_each, 16);
        for (long i = 0; i < cut.parts_each; ++i) {
          const long key0 = std::min(end, first + i * step);
          cut.tasks.push_back({b, head, row0, rows, key0, std::min(end, key0 + step), cut.parts++});
        }
      }
    }
  }
  std::stable_sort(cut.tasks.begin(), cut.tasks.end(),
                   [](const Task& x, const Task& y) { return x.rows * (x.key1 - x.key0) > y.rows * (y.key1 - y.key0); });
  return cut;
}

}  // namespace composed
