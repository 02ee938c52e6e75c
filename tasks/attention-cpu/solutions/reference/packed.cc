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

/// c[kTileRows][kTileCols] (+)= a[kTileRows][depth] . b[depth][kTileCols]; `b` is dense.
template <bool kAccumulate>
inline void multiply_tile(const double* a, Index a_stride, const double* b, Index depth, double* c, Index c_stride) {
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
  for (Index j = j0; j < j0 + kKeys; j += kTileCols, out += layout.dim * kTileCols) {
    for (Index t = 0; t < kTileCols; ++t) {
      const Index filled = j + t < p.kv_len ? p.head_dim : 0;
      const T* key = head + (j + t) * p.key_stride();
      for (Index d = 0; d < filled; ++d) out[d * kTileCols + t] = widen(key[d]);
      for (Index d = filled; d < layout.dim; ++d) out[d * kTileCols + t] = 0.0;
    }
  }
}

/// Values [j0, j0 + kKeys) of a head as panels [dim / kTileCols][kKeys][kTileCols].
template <class T>
void pack_values(const Problem& p, const Layout& layout, const T* head, Index j0, double* out) {
  for (Index t = 0; t < kKeys; ++t) {
    const Index filled = j0 + t < p.kv_len ? p.head_dim : 0;
    const T* value = head + (j0 + t) * p.key_stride();
    for (Index d = 0; d < layout.dim; ++d) {
      out[(d / kTileCols * kKeys + t) * kTileCols + d % kTileCols] = d < filled ? widen(value[d]) : 0.0;
    }
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
  std::fill(out, out + kRows * layout.dim, 0.0);
  for (Index r = 0; r < rows; ++r) {
    const T* from = q + p.row_offset(b, head, row0 + r);
    for (Index d = 0; d < p.head_dim; ++d) out[r * layout.dim + d] = p.scale * widen(from[d]);
  }
}

/// Adds one block of keys to the running softmax and output of `rows` rows.
void add_block(const Problem& p, const Layout& layout, const double* keys, const double* values, Index j0, Index row0,
               Index rows, Scratch& s) {
  const Index tile_rows = round_up(rows, kTileRows);
  const Index first = std::max<Index>(p.first_key(row0) - j0, 0) / kTileCols * kTileCols;
  const Index end = std::min(p.end_key(row0 + rows - 1) - j0, kKeys);
  for (Index t = first; t < end; t += kTileCols) {
    for (Index r = 0; r < tile_rows; r += kTileRows) {
      multiply_tile<false>(s.queries + r * layout.dim, layout.dim, keys + t * layout.dim, p.head_dim,
                           s.logits + r * kKeys + t, kKeys);
    }
  }
  for (Index r = 0; r < rows; ++r) {
    const double factor = softmax_block(s.logits + r * kKeys + first, p.first_key(row0 + r) - j0 - first,
                                        p.end_key(row0 + r) - j0 - first, round_up(end - first, kLanes), s.peak + r,
                                        s.sum + r);
    if (factor == 1.0) continue;
    for (Index d = 0; d < layout.dim; ++d) s.out[r * layout.dim + d] *= factor;
  }
  for (Index d = 0; d < layout.dim; d += kTileCols) {
    for (Index r = 0; r < tile_rows; r += kTileRows) {
      multiply_tile<true>(s.logits + r * kKeys + first, kKeys, values + d * kKeys + first * kTileCols, end - first,
                          s.out + r * layout.dim + d, layout.dim);
    }
  }
}

void store_rows(const Problem& p, const Layout& layout, Index b, Index head, Index row0, Index rows, const Scratch& s,
                float* o) {
  for (Index r = 0; r < rows; ++r) {
    const double inverse = s.sum[r] > 0.0 ? 1.0 / s.sum[r] : 0.0;
    float* to = o + p.row_offset(b, head, row0 + r);
    for (Index d = 0; d < p.head_dim; ++d) to[d] = float(s.out[r * layout.dim + d] * inverse);
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
      std::fill(s.out, s.out + kRows * layout.dim, 0.0);
      std::fill(s.peak, s.peak + kRows, -INFINITY);
      std::fill(s.sum, s.sum + kRows, 0.0);
      std::fill(s.logits, s.logits + kRows * kKeys, 0.0);
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
