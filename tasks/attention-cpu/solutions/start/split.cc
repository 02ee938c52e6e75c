// SPDX-License-Identifier: Apache-2.0
//
// `split`, for few query rows and many keys: what counts is to read every key once, in a good order, on all threads. All
// query rows of a key head go together. The keys are cut into pieces, and the pieces' partial sums are combined.
#include "pool.h"
#include "row_set.h"

namespace start {
namespace {

struct Plan {
  std::int64_t heads;   // key heads of an item: one, or all (Walk::by_position)
  std::int64_t rows;    // query rows of a key head
  int piece, pieces;    // keys of a piece, and how many there are
  std::int64_t items;
};

Plan make_plan(const Problem& p, const Config& c) {
  Plan plan{};
  plan.heads = c.walk == Walk::by_position ? p.kv_heads : 1;
  plan.rows = p.q_len * p.group();
  const std::int64_t units = p.batch * p.kv_heads / plan.heads;
  const std::int64_t wanted = (c.threads * c.pieces + units - 1) / units;
  const std::int64_t keys = (p.kv_len + wanted - 1) / wanted;
  plan.piece = static_cast<int>((keys + c.tile_kv - 1) / c.tile_kv * c.tile_kv);
  plan.pieces = static_cast<int>((p.kv_len + plan.piece - 1) / plan.piece);
  plan.items = units * plan.pieces;
  return plan;
}

// Partial results: per batch, query head and query row, then piece.
struct Parts {
  Partial* state;
  float* out;
  int pieces, padded;

  std::int64_t index(std::int64_t row, int piece) const { return row * pieces + piece; }
};

std::size_t thread_bytes(const Problem& p, const Config& c, const Plan& plan) {
  return (RowSet<float, false>::bytes(p, plan.heads * plan.rows, c.tile_kv) + 4095) / 4096 * 4096;
}

template <class T, bool Pairs>
void attend_piece(const Problem& p, const Config& c, const Plan& plan, std::int64_t item, char* memory, const Parts& parts) {
  const int piece = static_cast<int>(item % plan.pieces);
  const std::int64_t unit = item / plan.pieces, units = p.kv_heads / plan.heads;
  const std::int64_t b = unit / units, first_head = unit % units * plan.heads;
  const int rows = static_cast<int>(plan.rows);

  RowSet<T, Pairs> set(p, static_cast<int>(plan.heads * plan.rows), c.tile_kv, memory);
  for (std::int64_t h = 0; h < plan.heads; ++h) {
    for (int r = 0; r < rows; ++r) {
      set.load(static_cast<int>(h) * rows + r, b, r / p.group(), (first_head + h) * p.group() + r % p.group());
    }
  }
  const int first = std::max(p.first_key(0), piece * plan.piece);
  const int end = std::min({p.end_key(p.q_len - 1), (piece + 1) * plan.piece, static_cast<int>(p.kv_len)});
  for (int j = first; j < end; j += c.tile_kv) {
    for (std::int64_t h = 0; h < plan.heads; ++h) {
      set.see(static_cast<int>(h) * rows, rows, b, first_head + h, j, std::min(c.tile_kv, end - j), c.prefetch != 0);
    }
  }
  for (std::int64_t h = 0; h < plan.heads; ++h) {
    for (int r = 0; r < rows; ++r) {
      const int at = static_cast<int>(h) * rows + r;
      const std::int64_t head = (first_head + h) * p.group() + r % p.group(), i = r / p.group();
      if (plan.pieces == 1) {
        const float sum = set.partial(at).sum;
        store_row<T>(p, b, i, head, set.result(at), sum > 0 ? 1 / sum : 0);
      } else {
        const std::int64_t to = parts.index((b * p.q_heads + head) * p.q_len + i, piece);
        parts.state[to] = set.partial(at);
        std::memcpy(parts.out + to * parts.padded, set.result(at), sizeof(float) * static_cast<std::size_t>(parts.padded));
      }
    }
  }
}

template <class T>
void combine(const Problem& p, std::int64_t row, const Parts& parts) {
  float top = kNoMax, sum = 0;
  for (int s = 0; s < parts.pieces; ++s) top = std::max(top, parts.state[parts.index(row, s)].top);
  float* out = parts.out + parts.index(row, 0) * parts.padded;
  for (int s = 0; s < parts.pieces; ++s) {
    const Partial& part = parts.state[parts.index(row, s)];
    const float weight = std::exp2(part.top - top);
    const float* x = parts.out + parts.index(row, s) * parts.padded;
    sum += weight * part.sum;
    for (int d = 0; d < parts.padded; ++d) out[d] = weight * x[d] + (s == 0 ? 0.0f : out[d]);
  }
  const std::int64_t head = row / p.q_len;
  store_row<T>(p, head / p.q_heads, row % p.q_len, head % p.q_heads, out, sum > 0 ? 1 / sum : 0);
}

template <class T, bool Pairs>
void split(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  const Plan plan = make_plan(p, c);
  const std::int64_t rows = p.batch * p.q_heads * p.q_len;
  const std::size_t bytes = thread_bytes(p, c, plan);
  char* shared = workspace + bytes * static_cast<std::size_t>(c.threads);
  Parts parts{nullptr, nullptr, plan.pieces, RowSet<T, Pairs>::padded(p)};
  if (plan.pieces > 1) {
    const std::size_t count = static_cast<std::size_t>(rows * plan.pieces);
    parts.state = aligned_take<Partial>(shared, count);
    parts.out = aligned_take<float>(shared, count * static_cast<std::size_t>(parts.padded));
  }
  pool.for_each(c.threads, plan.items, 1, [&](std::int64_t item, int thread) {
    attend_piece<T, Pairs>(p, c, plan, item, workspace + static_cast<std::size_t>(thread) * bytes, parts);
  });
  if (plan.pieces > 1) {
    pool.for_each(1, rows, rows, [&](std::int64_t row, int) { combine<T>(p, row, parts); });
  }
}

}  // namespace

std::size_t split_workspace(const Problem& p, const Config& c) {
  const Plan plan = make_plan(p, c);
  const std::size_t parts = static_cast<std::size_t>(p.batch * p.q_heads * p.q_len * plan.pieces);
  return thread_bytes(p, c, plan) * static_cast<std::size_t>(c.threads) +
         parts * (sizeof(Partial) + 4 * static_cast<std::size_t>(RowSet<float, false>::padded(p))) + 2 * 64;
}

void split_run(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  if (!p.bf16) return split<float, false>(p, c, pool, workspace);
  c.multiply == Multiply::pairs ? split<Bf16, true>(p, c, pool, workspace) : split<Bf16, false>(p, c, pool, workspace);
}

}  // namespace start
