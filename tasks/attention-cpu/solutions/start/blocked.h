// SPDX-License-Identifier: Apache-2.0
//
// `blocked`: a work item is a tile of query rows of one key head, against all keys that they see, tile by tile, with the
// online softmax. Rows are packed over the heads of a group: row r is position r / group of head r % group, so that a
// group shares every key read, and neighbouring rows have neighbouring masks.
#pragma once

#include "blocked_products.h"
#include "exp.h"
#include "families.h"
#include "fetch.h"
#include "pool.h"

namespace start {

// Rows [first, first + rows) of those of one key head.
struct RowTile {
  std::int64_t b, kv_head, first, rows;
};

template <class T, class Op, int NV>
class BlockedItem {
 public:
  using Cell = typename Op::Cell;
  static constexpr bool kPairs = sizeof(T) == 2 && !std::is_same_v<Cell, float>;
  static constexpr int W = NV * kLanes;  // query rows of a strip
  static constexpr int MR = kKeysHigh<NV>;

  BlockedItem(const Problem& p, const Config& c, char* scratch)
      : p_(p), c_(c), dim_(static_cast<int>(p.head_dim)), padded_(padded(p)), steps_(kPairs ? dim_ / 2 : dim_),
        strips_((c.tile_q + W - 1) / W), stage_stride_(padded_ + 16), row_(p.kv_heads * p.head_dim), group_(p.group()) {
    const std::size_t rows = static_cast<std::size_t>(strips_) * W, keys = static_cast<std::size_t>(c.tile_kv);
    queries_ = aligned_take<Cell>(scratch, rows * static_cast<std::size_t>(steps_));
    out_ = aligned_take<float>(scratch, rows * static_cast<std::size_t>(padded_));
    scores_ = aligned_take<float>(scratch, keys * W);
    weights_ = aligned_take<Cell>(scratch, keys * W);
    top_ = aligned_take<float>(scratch, rows);
    sum_ = aligned_take<float>(scratch, rows);
    row_at_ = aligned_take<std::int64_t>(scratch, rows);
    first_key_ = aligned_take<int>(scratch, rows);
    end_key_ = aligned_take<int>(scratch, rows);
    staged_keys_ = aligned_take<Cell>(scratch, keys * static_cast<std::size_t>(stage_stride_));
    staged_values_ = aligned_take<Cell>(scratch, keys * static_cast<std::size_t>(stage_stride_));
  }

  static int padded(const Problem& p) { return static_cast<int>((p.head_dim + 15) / 16 * 16); }

  // Enough for every Op and NV.
  static std::size_t scratch_bytes(const Problem& p, const Config& c) {
    const std::size_t rows = static_cast<std::size_t>(c.tile_q) + 64, keys = static_cast<std::size_t>(c.tile_kv);
    const std::size_t dim = static_cast<std::size_t>(padded(p));
    return 4 * (2 * dim * rows + 2 * keys * 64 + 6 * rows + 2 * keys * (dim + 16)) + 11 * 64;
  }

  // Attends one tile; `later` is one that may come next. `cold`: no other tile fetched this one's keys before.
  void run(const RowTile& tile, const RowTile& later, bool cold) {
    b_ = tile.b;
    kv_head_ = tile.kv_head;
    first_row_ = tile.first;
    rows_ = tile.rows;
    keys_ = first_of(p_.k, tile);
    values_ = first_of(p_.v, tile);
    place_rows();
    const int first = p_.first_key(position(first_row_)), end = p_.end_key(position(first_row_ + rows_ - 1));
    if (c_.prefetch) plan_fetch(first, end, later, cold);
    load_queries();
    started_ = 0;
    for (int j = first; j < end; j += c_.tile_kv) {
      const int n = std::min(c_.tile_kv, end - j);
      stage(j, n);
      for (int s = 0; s < strips_ && s * W < rows_; ++s) attend(s, j, n);
    }
    store_out();
  }

 private:
  std::int64_t position(std::int64_t row) const { return row / group_; }

  const T* first_of(const void* x, const RowTile& tile) const {
    return static_cast<const T*>(x) + (tile.b * p_.kv_len * p_.kv_heads + tile.kv_head) * p_.head_dim;
  }

  // What memory is to bring while this tile is computed: the rest of its keys, the rows of q of the next tile, and that one's keys.
  void plan_fetch(int first, int end, const RowTile& later, bool cold) {
    constexpr std::int64_t kSize = sizeof(T);
    const std::ptrdiff_t to_values = reinterpret_cast<const char*>(values_) - reinterpret_cast<const char*>(keys_);
    fetch_.clear();
    if (cold) {
      const int behind = std::min(first + c_.tile_kv, end);
      fetch_.add(keys_ + behind * row_, row_ * kSize, end - behind, dim_ * kSize, to_values);
    }
    if (later.rows > 0) {
      const std::int64_t from = position(later.first), to = position(later.first + later.rows - 1) + 1;
      fetch_.add(static_cast<const T*>(p_.q) + ((later.b * p_.q_len + from) * p_.q_heads + later.kv_head * group_) * p_.head_dim,
                 p_.q_heads * p_.head_dim * kSize, to - from, group_ * p_.head_dim * kSize);
      if (later.b != b_ || later.kv_head != kv_head_) {
        const std::int64_t begin = p_.first_key(from), keys = std::min(p_.end_key(to - 1) - begin, kAhead / (2 * dim_ * kSize));
        fetch_.add(first_of(p_.k, later) + begin * row_, row_ * kSize, keys, dim_ * kSize, to_values);
      }
    }
    const std::int64_t strips = (rows_ + W - 1) / W, blocks = (end - first + MR - 1) / MR;
    fetch_.pace(strips * blocks * 2 / 3);
  }

  static constexpr std::int64_t kAhead = 512 << 10;  // bytes of the next head's keys and values at most: half of a second cache

  // What each row is: its place in q and o, and its mask. Rows beyond the last one repeat it, and are not stored.
  void place_rows() {
    for (std::int64_t r = 0; r < strips_ * W; ++r) {
      const std::int64_t row = first_row_ + std::min(r, rows_ - 1), i = position(row), head = row - i * group_;
      row_at_[r] = ((b_ * p_.q_len + i) * p_.q_heads + kv_head_ * group_ + head) * p_.head_dim;
      first_key_[r] = p_.first_key(i);
      end_key_[r] = p_.end_key(i);
    }
    for (int r = 0; r < strips_ * W; r += kLanes) {
      vstore(top_ + r, vset(kNoMax));
      vstore(sum_ + r, vset(0));
    }
  }

  // Q transposed: queries_[strip][step][row]; floats carry the scale, pairs stay as they are.
  void load_queries() {
    const vf factor = vset(p_.scale * kLog2e);
    const T* q = static_cast<const T*>(p_.q);
    for (std::int64_t r0 = 0; r0 < (rows_ + W - 1) / W * W; r0 += kLanes) {
      Cell* strip = queries_ + r0 / W * W * steps_ + r0 % W;
      for (int d = 0; d < steps_; d += kLanes) {
        const int n = std::min(kLanes, steps_ - d);
        vf x[kLanes];
        for (int l = 0; l < kLanes; ++l) {
          const T* from = q + row_at_[r0 + l];
          if constexpr (kPairs) {
            x[l] = vload_part(reinterpret_cast<const float*>(from) + d, n);
          } else {
            x[l] = (n == kLanes ? vload(from + d) : vload_part(from + d, n)) * factor;
          }
        }
        transpose(x);
        for (int i = 0; i < n; ++i) vstore(reinterpret_cast<float*>(strip) + (d + i) * W, x[i]);
      }
    }
  }

  void stage(int j, int n) {
    if constexpr (kPairs) {
      interleave_values(j, n);
    } else {
      if (!in_place()) copy(keys_ + j * row_, n, staged_keys_);
      copy(values_ + j * row_, n, staged_values_);
    }
  }

  bool in_place() const { return sizeof(T) == 4 && c_.staging == Staging::in_place; }

  // Columns beyond the head become zeros.
  void copy(const T* from, int n, float* to) const {
    for (int r = 0; r < n; ++r, from += row_, to += stage_stride_) {
      int d = 0;
      for (; d + kLanes <= dim_; d += kLanes) vstore(to + d, vload(from + d));
      if (d < dim_) vstore(to + d, vload_part(from + d, dim_ - d));
    }
  }

  // staged_values_[pair][d] = (V[2 pair][d], V[2 pair + 1][d]); an odd last key is paired with zeros.
  void interleave_values(int j, int n) {
#if defined(START_BF16_DOT)
    for (int r = 0; r < n; r += 2) {
      const T* even = values_ + (j + r) * row_;
      Cell* to = staged_values_ + r / 2 * stage_stride_;
      for (int d = 0; d < dim_; d += 16) {
        const __mmask16 in = static_cast<__mmask16>(dim_ - d >= 16 ? 0xffff : (1u << (dim_ - d)) - 1);
        const __m512i lo = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(in, even + d));
        const __m512i hi = r + 1 < n ? _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(in, even + row_ + d))
                                     : _mm512_setzero_si512();
        _mm512_storeu_si512(to + d, _mm512_or_si512(lo, _mm512_slli_epi32(hi, 16)));
      }
    }
#else
    (void)j;
    (void)n;
#endif
  }

  // Of a tile's keys, those that a vector of query rows sees: [lo, hi), whole pairs where keys are multiplied in pairs.
  struct Seen {
    int lo, hi;
  };

  Seen seen(int first_row, int rows, int j, int n) const {
    const int lo = std::clamp(first_key_[first_row] - j, 0, n), hi = std::clamp(end_key_[first_row + rows - 1] - j, 0, n);
    return kPairs ? Seen{lo / 2 * 2, std::min((hi + 1) / 2 * 2, n)} : Seen{lo, hi};
  }

  // One strip of rows against keys [j, j + n).
  void attend(int s, int j, int n) {
    const int last = static_cast<int>(std::min<std::int64_t>((s + 1) * W, rows_)) - 1;
    n = std::min(n, end_key_[last] - j);
    if (n <= 0 || j + n <= first_key_[s * W]) return;
    const bool masked = j + n > end_key_[s * W] || j < first_key_[last];

    vf top[NV], old_top[NV], alpha[NV], sum[NV];
    Seen see[NV];
    for (int c = 0; c < NV; ++c) {
      old_top[c] = top[c] = vload(top_ + s * W + c * kLanes);
      see[c] = seen(s * W + c * kLanes, kLanes, j, n);
    }
    score(s, j, n, see, top);
    if (masked) mask(s, j, see, old_top, top);
    weigh(n, see, top, sum);
    for (int c = 0; c < NV; ++c) {
      alpha[c] = exp2_float(old_top[c] - top[c]);
      vstore(top_ + s * W + c * kLanes, top[c]);
      float* at = sum_ + s * W + c * kLanes;
      vstore(at, vfma(vload(at), alpha[c], sum[c]));
    }
    accumulate(s, j, n, masked, alpha);
  }

  void score(int s, int j, int n, const Seen (&see)[NV], vf (&top)[NV]) {
    const Cell* q = queries_ + static_cast<std::ptrdiff_t>(s) * W * steps_;
    const Cell* k = staged_keys_;
    std::ptrdiff_t stride = stage_stride_;
    float factor = 1;
    if constexpr (kPairs) {
      k = reinterpret_cast<const Cell*>(keys_ + j * row_);
      stride = row_ / 2;
      factor = p_.scale * kLog2e;
    } else if constexpr (sizeof(T) == 4) {
      if (in_place()) k = keys_ + j * row_, stride = row_;
    }
    for (int r = 0; r < n;) {
      // The last block is moved back over keys that were done: the same values again, and no second kernel.
      if (r + MR > n && n >= MR) r = n - MR;
      if (c_.prefetch) fetch_.step();
      const int high = r + MR <= n ? MR : 1;
      int from = 0, to = NV;
      while (from < to && see[from].hi <= r) ++from;
      while (from < to && see[to - 1].lo >= r + high) --to;
      score_some<NV>(high, to - from, k + r * stride, stride, q + from * kLanes, factor, scores_ + r * W + from * kLanes, top + from);
      r += high;
    }
  }

  // `high` keys, MR or one, against `vectors` vectors of query rows.
  template <int V>
  void score_some(int high, int vectors, const Cell* k, std::ptrdiff_t stride, const Cell* q, float factor, float* scores, vf* top) const {
    if constexpr (V > 0) {
      if (vectors < V) return score_some<V - 1>(high, vectors, k, stride, q, factor, scores, top);
      high == MR ? score_rows<Op, V, MR>(k, stride, q, W, steps_, factor, scores, top)
                 : score_rows<Op, V, 1>(k, stride, q, W, steps_, factor, scores, top);
    }
  }

  void mask(int s, int j, const Seen (&see)[NV], const vf (&old_top)[NV], vf (&top)[NV]) {
    for (int c = 0; c < NV; ++c) {
      const int row = s * W + c * kLanes, all_from = first_key_[row + kLanes - 1] - j, all_to = end_key_[row] - j;
      vf t = old_top[c];
      for (int r = see[c].lo; r < see[c].hi; ++r) {
        float* at = scores_ + r * W + c * kLanes;
        vf x = vload(at);
        if (r < all_from || r >= all_to) {
          x = vkeep_between(x, j + r, first_key_ + row, end_key_ + row, -INFINITY);
          vstore(at, x);
        }
        t = vmax(t, x);
      }
      top[c] = t;
    }
  }

  // weights_ = 2^(scores - top), as floats or as pairs of neighbouring keys.
  void weigh([[maybe_unused]] int n, const Seen (&see)[NV], const vf (&top)[NV], vf (&sum)[NV]) {
    for (int c = 0; c < NV; ++c) {
      vf total = vset(0);
      const float* from = scores_ + c * kLanes;
      Cell* to = weights_ + c * kLanes;
      if constexpr (kPairs) {
#if defined(START_BF16_DOT)
        const __m512i interleave = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                                    21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
        for (int r = see[c].lo; r < see[c].hi; r += 2) {
          const vf even = exp2_short(vload(from + r * W) - top[c]);
          const vf odd = r + 1 < n ? exp2_short(vload(from + (r + 1) * W) - top[c]) : vset(0);
          total += even + odd;
          const __m512i both = (__m512i)_mm512_cvtne2ps_pbh(odd, even);
          _mm512_storeu_si512(to + r / 2 * W, _mm512_permutexvar_epi16(interleave, both));
        }
#endif
      } else {
        for (int r = see[c].lo; r < see[c].hi; ++r) {
          const vf x = vload(from + r * W) - top[c];
          const vf w = sizeof(T) == 2 ? exp2_short(x) : exp2_float(x);
          total += w;
          vstore(to + r * W, w);
        }
      }
      sum[c] = total;
    }
  }

  void accumulate(int s, int j, int n, bool masked, const vf (&alpha)[NV]) {
    float factor[W];
    for (int c = 0; c < NV; ++c) vstore(factor + c * kLanes, alpha[c]);
    const Values product{j, n, masked, s * W, !(started_ >> s & 1u), factor, out_ + static_cast<std::ptrdiff_t>(s) * W * padded_};
    started_ |= 1u << s;
    const int rows = static_cast<int>(std::min<std::int64_t>(W, rows_ - s * W));
    int d = 0;
    for (; d + 4 * kLanes <= padded_ && kLanes == 16; d += 4 * kLanes) columns<4, 4>(product, d, rows);
    for (; d + 2 * kLanes <= padded_; d += 2 * kLanes) columns<kLanes == 16 ? 8 : 4, 2>(product, d, rows);
    for (; d < padded_; d += kLanes) columns<8, 1>(product, d, rows);
  }

  struct Values {
    int j, n;
    bool masked;
    int row;  // the strip's first in the tile
    bool fresh;
    const float* alpha;
    float* out;
  };

  // C vectors of columns of all rows, so that those columns of V stay in the first cache.
  template <int Rows, int C>
  void columns(const Values& x, int d, int rows) {
    Seen all{0, x.n};
    for (int r = 0; r < rows; r += Rows) {
      if (x.masked) all = seen(x.row + r, Rows, x.j, x.n);
      if (all.lo >= all.hi && !x.fresh) continue;  // then alpha is 1
      const int first = kPairs ? all.lo / 2 : all.lo, end = kPairs ? (all.hi + 1) / 2 : all.hi;
      value_rows<Op, Rows, C>(weights_ + first * W + r, W, staged_values_ + first * stage_stride_ + d, stage_stride_, end - first,
                              x.fresh, x.alpha + r, x.out + r * padded_ + d, padded_);
    }
  }

  void store_out() {
    for (std::int64_t r = 0; r < rows_; ++r) {
      T* to = static_cast<T*>(p_.o) + row_at_[r];
      const float* from = out_ + r * padded_;
      // A strip that saw no key at all was never written.
      const bool empty = !(started_ >> (r / W) & 1u) || !(sum_[r] > 0);
      if (empty) {
        std::memset(to, 0, sizeof(T) * static_cast<std::size_t>(dim_));
      } else {
        store_row(to, from, 1 / sum_[r]);
      }
    }
#if defined(START_STREAM)
    stream_end();
#endif
  }

  void store_row(T* to, const float* from, float scale) const {
    const vf factor = vset(scale);
#if defined(START_STREAM)
    if (dim_ % kStreamed<T> == 0) {  // then all rows are aligned as the tensor is
      for (int d = 0; d < dim_; d += kStreamed<T>) vstream(to + d, from + d, factor);
      return;
    }
#endif
    int d = 0;
    for (; d + kLanes <= dim_; d += kLanes) vstore(to + d, vload(from + d) * factor);
    if (d < dim_) vstore_part(to + d, vload(from + d) * factor, dim_ - d);
  }

  const Problem& p_;
  const Config& c_;
  const int dim_, padded_, steps_, strips_, stage_stride_;
  const std::int64_t row_, group_;
  Cell *queries_, *weights_, *staged_keys_, *staged_values_;
  float *out_, *scores_, *top_, *sum_;
  std::int64_t* row_at_;
  int *first_key_, *end_key_;
  std::int64_t b_ = 0, kv_head_ = 0, first_row_ = 0, rows_ = 0;
  unsigned started_ = 0;  // a bit per strip: out_ holds something
  const T *keys_ = nullptr, *values_ = nullptr;
  Fetch fetch_;
};

// Items of one head follow each other, so that its keys stay in the last cache; the last rows, which see most, come first.
template <class T, class Op, int NV>
void blocked_items(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  const std::int64_t rows = p.q_len * p.group(), tiles = (rows + c.tile_q - 1) / c.tile_q;
  const std::size_t bytes = (BlockedItem<T, Op, NV>::scratch_bytes(p, c) + 4095) / 4096 * 4096;
  const std::int64_t items = p.batch * p.kv_heads * tiles;
  const auto tile = [&](std::int64_t item) -> RowTile {
    if (item >= items) return {0, 0, 0, 0};
    const std::int64_t head = item / tiles, first = (tiles - 1 - item % tiles) * c.tile_q;
    return {head / p.kv_heads, head % p.kv_heads, first, std::min<std::int64_t>(c.tile_q, rows - first)};
  };
  pool.for_each(c.threads, items, 1, [&](std::int64_t item, int thread) {
    BlockedItem<T, Op, NV> work(p, c, workspace + static_cast<std::size_t>(thread) * bytes);
    work.run(tile(item), tile(item + c.threads), item < c.threads);
  });
}

template <class T, class Op>
void blocked_by_width(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  constexpr int kWidest = kLanes == 16 ? 4 : 2;  // vectors that the registers hold beside the accumulators
  const int vectors = std::min(c.strip, c.tile_q) / kLanes;
  if (vectors >= kWidest) return blocked_items<T, Op, kWidest>(p, c, pool, workspace);
  if (vectors == 3) return blocked_items<T, Op, 3>(p, c, pool, workspace);
  if (vectors == 2) return blocked_items<T, Op, 2>(p, c, pool, workspace);
  blocked_items<T, Op, 1>(p, c, pool, workspace);
}

}  // namespace start
