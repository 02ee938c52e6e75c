// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "doubles.h"
#include "problem.h"

namespace reference {
namespace {

constexpr Index kTileRows = kLanes == 8 ? 8 : 4;  // rows and columns of the tile that lives in registers
constexpr Index kTileCols = 2 * kLanes;
constexpr Index kRows = 64;   // rows of a task
constexpr Index kKeys = 128;  // keys of a block
static_assert(kRows % kTileRows == 0 && kKeys % kTileCols == 0);

/// c[kTileRows][kTileCols] (+)= a[kTileRows][depth] . b[depth][kTileCols]; `b` is dense. Inlined, its sums would not
/// all stay in registers.
template <bool kAccumulate>
[[gnu::noinline]] void multiply_tile(const double* a, Index a_stride, const double* b, Index depth, double* c, Index c_stride) {
  Doubles sum[kTileRows][2];
  for (Index i = 0; i < kTileRows; ++i) {
    sum[i][0] = kAccumulate ? load(c + i * c_stride) : Doubles{};
    sum[i][1] = kAccumulate ? load(c + i * c_stride + kLanes) : Doubles{};
  }
  for (Index d = 0; d < depth; ++d) {
    const Doubles left = load(b + d * kTileCols);
    const Doubles right = load(b + d * kTileCols + kLanes);
#pragma GCC unroll 8
    for (Index i = 0; i < kTileRows; ++i) {
      const Doubles x = spread(a[i * a_stride + d]);
      sum[i][0] += x * left;
      sum[i][1] += x * right;
    }
  }
  for (Index i = 0; i < kTileRows; ++i) {
    store(c + i * c_stride, sum[i][0]);
    store(c + i * c_stride + kLanes, sum[i][1]);
  }
}

struct Layout {
  Index dim;        // head_dim rounded up to whole tiles
  Index keys;       // kv_len rounded up to whole blocks
  Index per_head;   // doubles of one packed head, keys or values
  Index per_thread;

  explicit Layout(const Problem& p)
      : dim(round_up(p.head_dim, kTileCols)), keys(round_up(p.kv_len, kKeys)), per_head(keys * dim),
        per_thread(2 * kRows * dim + kRows * kKeys + 2 * kRows) {}
};

/// Keys [j0, j0 + kKeys) of a head as panels [kKeys / kTileCols][dim][kTileCols]; what lies behind the end is zero.
template <class T>
void pack_keys(const Problem& p, const Layout& layout, const T* head, Index j0, double* out) {
  const Index keys = std::min(kKeys, p.kv_len - j0);
  const Index whole_keys = keys / kLanes * kLanes;
  const Index whole_dim = p.head_dim / kLanes * kLanes;
  const auto place = [&](Index t, Index d) {
    return out + (t / kTileCols * layout.dim + d) * kTileCols + t % kTileCols;
  };
  if (keys < kKeys || p.head_dim < layout.dim) std::fill(out, out + kKeys * layout.dim, 0.0);
  for (Index t = 0; t < whole_keys; t += kLanes) {
    const T* key = head + (j0 + t) * p.key_stride();
    for (Index d = 0; d < whole_dim; d += kLanes) {
      Doubles square[kLanes];
      for (Index i = 0; i < kLanes; ++i) square[i] = load(key + i * p.key_stride() + d);
      transpose(square);
      for (Index i = 0; i < kLanes; ++i) store(place(t, d + i), square[i]);
    }
  }
  for (Index t = 0; t < keys; ++t) {
    const T* key = head + (j0 + t) * p.key_stride();
    for (Index d = t < whole_keys ? whole_dim : 0; d < p.head_dim; ++d) *place(t, d) = widen(key[d]);
  }
}

/// Values [j0, j0 + kKeys) of a head as panels [dim / kTileCols][kKeys][kTileCols].
template <class T>
void pack_values(const Problem& p, const Layout& layout, const T* head, Index j0, double* out) {
  const Index keys = std::min(kKeys, p.kv_len - j0);
  const Index whole_dim = p.head_dim / kLanes * kLanes;
  const auto place = [&](Index t, Index d) { return out + (d / kTileCols * kKeys + t) * kTileCols + d % kTileCols; };
  if (keys < kKeys || p.head_dim < layout.dim) std::fill(out, out + kKeys * layout.dim, 0.0);
  for (Index t = 0; t < keys; ++t) {
    const T* value = head + (j0 + t) * p.key_stride();
    for (Index d = 0; d < whole_dim; d += kLanes) store(place(t, d), load(value + d));
    for (Index d = whole_dim; d < p.head_dim; ++d) *place(t, d) = widen(value[d]);
  }
}

struct Scratch {
  double *queries, *out, *logits, *peak, *sum;

  Scratch(const Layout& layout, double* base)
      : queries(base), out(queries + kRows * layout.dim), logits(out + kRows * layout.dim), peak(logits + kRows * kKeys),
        sum(peak + kRows) {}
};

template <class T>
void load_queries(const Problem& p, const Layout& layout, const T* q, Index b, Index head, Index row0, Index rows,
                  double* out) {
  const Index whole = p.head_dim / kLanes * kLanes;
  for (Index r = 0; r < rows; ++r, out += layout.dim) {
    const T* from = q + p.row_offset(b, head, row0 + r);
    for (Index d = 0; d < whole; d += kLanes) store(out + d, load(from + d) * p.scale);
    for (Index d = whole; d < p.head_dim; ++d) out[d] = p.scale * widen(from[d]);
  }
}

/// Adds one block of keys to the running softmax and output of `rows` rows. A tile of rows skips the keys that none of its
/// rows sees.
void add_block(const Problem& p, const Layout& layout, const double* keys, const double* values, Index j0, Index row0,
               Index rows, Scratch& s) {
  Index first[kRows / kTileRows], end[kRows / kTileRows];
  const Index tiles = divide_up(rows, kTileRows);
  for (Index i = 0; i < tiles; ++i) {
    const Index last = std::min(rows, (i + 1) * kTileRows) - 1;
    first[i] = std::clamp<Index>(p.first_key(row0 + i * kTileRows) - j0, 0, kKeys) / kTileCols * kTileCols;
    end[i] = std::clamp<Index>(p.end_key(row0 + last) - j0, 0, kKeys);
  }
  for (Index t = first[0]; t < end[tiles - 1]; t += kTileCols) {
    for (Index i = 0; i < tiles; ++i) {
      if (t < first[i] || t >= end[i]) continue;
      multiply_tile<false>(s.queries + i * kTileRows * layout.dim, layout.dim, keys + t * layout.dim, p.head_dim,
                           s.logits + i * kTileRows * kKeys + t, kKeys);
    }
  }
  for (Index r = 0; r < rows; ++r) {
    const Index from = first[r / kTileRows];
    const Index count = round_up(end[r / kTileRows] - from, kLanes);
    if (count <= 0) continue;
    const double factor = softmax_block(s.logits + r * kKeys + from, p.first_key(row0 + r) - j0 - from,
                                        p.end_key(row0 + r) - j0 - from, count, s.peak + r, s.sum + r);
    if (factor == 1.0) continue;
    double* out = s.out + r * layout.dim;
    for (Index d = 0; d < layout.dim; d += kLanes) store(out + d, load(out + d) * factor);
  }
  for (Index d = 0; d < layout.dim; d += kTileCols) {
    for (Index i = 0; i < tiles; ++i) {
      if (first[i] >= end[i]) continue;
      multiply_tile<true>(s.logits + i * kTileRows * kKeys + first[i], kKeys, values + d * kKeys + first[i] * kTileCols,
                          end[i] - first[i], s.out + i * kTileRows * layout.dim + d, layout.dim);
    }
  }
}

void store_rows(const Problem& p, const Layout& layout, Index b, Index head, Index row0, Index rows, const Scratch& s,
                float* o) {
  for (Index r = 0; r < rows; ++r) {
    const double inverse = s.sum[r] > 0.0 ? 1.0 / s.sum[r] : 0.0;
    float* to = o + p.row_offset(b, head, row0 + r);
    const double* from = s.out + r * layout.dim;
    const Index whole = p.head_dim / kLanes * kLanes;
    for (Index d = 0; d < whole; d += kLanes) store(to + d, load(from + d) * inverse);
    for (Index d = whole; d < p.head_dim; ++d) to[d] = float(from[d] * inverse);
  }
}

}  // namespace

std::uint64_t packed_workspace(const Problem& p) {
  const Layout layout(p);
  return std::uint64_t(2 * p.batch * p.kv_heads * layout.per_head + p.threads * layout.per_thread) * sizeof(double);
}

template <class T>
void run_packed(const Problem& p, const T* q, const T* k, const T* v, float* o, double* workspace) {
  const Layout layout(p);
  const Index heads = p.batch * p.kv_heads;
  const Index key_blocks = layout.keys / kKeys;
  const Index row_blocks = divide_up(p.rows(), kRows);
  double* keys = workspace;
  double* values = keys + heads * layout.per_head;
  double* scratch = values + heads * layout.per_head;
  Index next_scratch = 0;
#pragma omp parallel num_threads(p.threads)
  {
    Index mine;
#pragma omp atomic capture
    mine = next_scratch++;
    Scratch s(layout, scratch + mine * layout.per_thread);
#pragma omp for schedule(dynamic, 1)
    for (Index task = 0; task < heads * key_blocks; ++task) {
      const Index head = task / key_blocks;
      const Index j0 = task % key_blocks * kKeys;
      const Index from = p.head_offset(head / p.kv_heads, head % p.kv_heads);
      pack_keys(p, layout, k + from, j0, keys + head * layout.per_head + j0 * layout.dim);
      pack_values(p, layout, v + from, j0, values + head * layout.per_head + j0 * layout.dim);
    }
    // The last rows of a causal head have most to do: they go first.
#pragma omp for schedule(dynamic, 1)
    for (Index task = 0; task < heads * row_blocks; ++task) {
      const Index head = task % heads;
      const Index b = head / p.kv_heads;
      const Index row0 = (row_blocks - 1 - task / heads) * kRows;
      const Index rows = std::min(kRows, p.rows() - row0);
      load_queries(p, layout, q, b, head % p.kv_heads, row0, rows, s.queries);
      std::fill(s.out, s.out + rows * layout.dim, 0.0);
      std::fill(s.peak, s.peak + rows, -INFINITY);
      std::fill(s.sum, s.sum + rows, 0.0);
      const Index end = p.end_key(row0 + rows - 1);
      for (Index j0 = p.first_key(row0) / kKeys * kKeys; j0 < end; j0 += kKeys) {
        const Index at = head * layout.per_head + j0 * layout.dim;
        add_block(p, layout, keys + at, values + at, j0, row0, rows, s);
      }
      store_rows(p, layout, b, head % p.kv_heads, row0, rows, s, o);
    }
  }
}

template void run_packed(const Problem&, const float*, const float*, const float*, float*, double*);
template void run_packed(const Problem&, const Bf16*, const Bf16*, const Bf16*, float*, double*);

}  // namespace reference
