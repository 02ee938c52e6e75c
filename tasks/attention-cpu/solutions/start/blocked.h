// SPDX-License-Identifier: Apache-2.0
//
// `blocked`: a work item is a tile of query rows of one key head, against all keys that they see, tile by tile, with the
// online softmax. Rows are packed over the heads of a group: row r is position r / group of head r % group, so that a
// group shares every key read, and neighbouring rows have neighbouring masks.
#pragma once

#include "blocked_products.h"
#include "exp.h"
#include "families.h"
#include "pool.h"

namespace start {

// Row strides of staged tiles get one more line: a power of two would map all rows to the same cache sets.
inline int staged_stride(const Problem& p) { return static_cast<int>((p.head_dim + 15) / 16 * 16 + 16); }

template <class T, class Op, int NV>
class BlockedItem {
 public:
  using Cell = typename Op::Cell;
  static constexpr bool kPairs = sizeof(T) == 2 && !std::is_same_v<Cell, float>;
  static constexpr int W = NV * kLanes;  // query rows of a strip
  static constexpr int MR = kRowsHigh<NV>;

  BlockedItem(const Problem& p, const Config& c, char* scratch)
      : p_(p), c_(c), dim_(static_cast<int>(p.head_dim)), steps_(kPairs ? dim_ / 2 : dim_),
        strips_(c.tile_q / W), stage_stride_(staged_stride(p)), row_(p.kv_heads * p.head_dim),
        group_(p.group()) {
    const std::size_t area = static_cast<std::size_t>(dim_) * c.tile_q;
    queries_ = aligned_take<Cell>(scratch, area);
    out_ = aligned_take<float>(scratch, area);
    scores_ = aligned_take<float>(scratch, static_cast<std::size_t>(c.tile_kv) * W);
    weights_ = aligned_take<Cell>(scratch, static_cast<std::size_t>(c.tile_kv) * W);
    top_ = aligned_take<float>(scratch, static_cast<std::size_t>(c.tile_q));
    sum_ = aligned_take<float>(scratch, static_cast<std::size_t>(c.tile_q));
    row_at_ = aligned_take<std::int64_t>(scratch, static_cast<std::size_t>(c.tile_q));
    first_key_ = aligned_take<int>(scratch, static_cast<std::size_t>(c.tile_q));
    end_key_ = aligned_take<int>(scratch, static_cast<std::size_t>(c.tile_q));
    staged_keys_ = aligned_take<Cell>(scratch, static_cast<std::size_t>(c.tile_kv) * stage_stride_);
    staged_values_ = aligned_take<Cell>(scratch, static_cast<std::size_t>(c.tile_kv) * stage_stride_);
  }

  static std::size_t scratch_bytes(const Problem& p, const Config& c) {
    const std::size_t rows = static_cast<std::size_t>(c.tile_q), keys = static_cast<std::size_t>(c.tile_kv);
    const std::size_t dim = static_cast<std::size_t>(p.head_dim), stride = static_cast<std::size_t>(staged_stride(p));
    return 4 * (2 * dim * rows + 2 * keys * rows + 6 * rows + 2 * keys * stride) + 10 * 64;
  }

  void run(std::int64_t b, std::int64_t kv_head, std::int64_t first_row, std::int64_t rows) {
    b_ = b;
    kv_head_ = kv_head;
    first_row_ = first_row;
    rows_ = rows;
    keys_ = static_cast<const T*>(p_.k) + (b * p_.kv_len * p_.kv_heads + kv_head) * p_.head_dim;
    values_ = static_cast<const T*>(p_.v) + (b * p_.kv_len * p_.kv_heads + kv_head) * p_.head_dim;
    place_rows();
    load_queries();
    started_ = 0;
    const int end = p_.end_key(position(first_row + rows - 1));
    for (int j = p_.first_key(position(first_row)); j < end; j += c_.tile_kv) {
      const int n = std::min(c_.tile_kv, end - j);
      stage(j, n);
      for (int s = 0; s < strips_ && s * W < rows_; ++s) attend(s, j, n, s == 0 ? end : 0);
    }
    store_out();
  }

 private:
  std::int64_t position(std::int64_t row) const { return row / group_; }

  // What each row is: its place in q and o, and its mask. Rows beyond the last one repeat it, and are not stored.
  void place_rows() {
    for (std::int64_t r = 0; r < c_.tile_q; ++r) {
      const std::int64_t row = first_row_ + std::min(r, rows_ - 1), i = position(row), head = row - i * group_;
      row_at_[r] = ((b_ * p_.q_len + i) * p_.q_heads + kv_head_ * group_ + head) * p_.head_dim;
      first_key_[r] = p_.first_key(i);
      end_key_[r] = p_.end_key(i);
    }
    for (int r = 0; r < c_.tile_q; r += kLanes) {
      vstore(top_ + r, vset(kNoMax));
      vstore(sum_ + r, vset(0));
    }
  }

  // Q transposed: queries_[strip][step][row]; floats carry the scale, pairs stay as they are.
  void load_queries() {
    const vf factor = vset(p_.scale * kLog2e);
    const T* q = static_cast<const T*>(p_.q);
    for (std::int64_t r0 = 0; r0 < c_.tile_q && r0 < (rows_ + W - 1) / W * W; r0 += kLanes) {
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
    } else if (sizeof(T) == 2 || c_.staging == Staging::staged) {
      copy(keys_ + j * row_, n, staged_keys_);
      copy(values_ + j * row_, n, staged_values_);
    }
  }

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

  void prefetch_row(const T* row) const {
    const char* at = reinterpret_cast<const char*>(row);
    for (std::size_t b = 0; b < dim_ * sizeof(T); b += 64) __builtin_prefetch(at + b);
  }

  // One strip of rows against keys [j, j + n). `end` is the end of the tile's keys where this strip also prefetches.
  void attend(int s, int j, int n, int end) {
    const int last = static_cast<int>(std::min<std::int64_t>((s + 1) * W, rows_)) - 1;
    n = std::min(n, end_key_[last] - j);
    if (n <= 0 || j + n <= first_key_[s * W]) return;
    const bool masked = j + n > end_key_[s * W] || j < first_key_[last];

    vf top[NV], old_top[NV], alpha[NV], sum[NV];
    for (int c = 0; c < NV; ++c) old_top[c] = top[c] = vload(top_ + s * W + c * kLanes);
    score(s, j, n, end, top);
    if (masked) mask(s, j, n, old_top, top);
    for (int c = 0; c < NV; ++c) {
      alpha[c] = exp2_float(old_top[c] - top[c]);
      vstore(top_ + s * W + c * kLanes, top[c]);
    }
    weigh(n, top, sum);
    for (int c = 0; c < NV; ++c) {
      float* at = sum_ + s * W + c * kLanes;
      vstore(at, vfma(vload(at), alpha[c], sum[c]));
    }
    accumulate(s, j, n, alpha);
  }

  void score(int s, int j, int n, int end, vf (&top)[NV]) {
    const Cell* q = queries_ + static_cast<std::ptrdiff_t>(s) * W * steps_;
    const Cell* k = staged_keys_;
    std::ptrdiff_t stride = stage_stride_;
    float factor = 1;
    if constexpr (kPairs) {
      k = reinterpret_cast<const Cell*>(keys_ + j * row_);
      stride = row_ / 2;
      factor = p_.scale * kLog2e;
    } else if constexpr (sizeof(T) == 4) {
      if (c_.staging == Staging::in_place) k = keys_ + j * row_, stride = row_;
    }
    for (int r = 0; r < n;) {
      // The last block is moved back over keys that were done: the same values again, and no second kernel.
      if (r + MR > n && n >= MR) r = n - MR;
      if (c_.prefetch && end > 0) {
        const int next = j + r + c_.tile_kv;
        for (int i = 0; i < MR; ++i) {
          if (!kPairs) prefetch_row(values_ + std::min(j + r + i, end - 1) * row_);
          if (next + i < end) {
            prefetch_row(keys_ + (next + i) * row_);
            if (kPairs) prefetch_row(values_ + (next + i) * row_);
          }
        }
      }
      if (r + MR <= n) {
        score_rows<Op, NV, MR>(k + r * stride, stride, q, steps_, factor, scores_ + r * W, top);
        r += MR;
      } else {
        score_rows<Op, NV, 1>(k + r * stride, stride, q, steps_, factor, scores_ + r * W, top);
        r += 1;
      }
    }
  }

  void mask(int s, int j, int n, const vf (&old_top)[NV], vf (&top)[NV]) {
    for (int c = 0; c < NV; ++c) {
      vf t = old_top[c];
      for (int r = 0; r < n; ++r) {
        float* at = scores_ + r * W + c * kLanes;
        const int rows = s * W + c * kLanes;
        const vf x = vkeep_between(vload(at), j + r, first_key_ + rows, end_key_ + rows, -INFINITY);
        vstore(at, x);
        t = vmax(t, x);
      }
      top[c] = t;
    }
  }

  // weights_ = 2^(scores - top), as floats or as pairs of neighbouring keys.
  void weigh(int n, const vf (&top)[NV], vf (&sum)[NV]) {
    for (int c = 0; c < NV; ++c) sum[c] = vset(0);
    if constexpr (kPairs) {
#if defined(START_BF16_DOT)
      const float* none = scores_ + n * W;
      for (int r = 0; r < n; r += 2) {
        for (int c = 0; c < NV; ++c) {
          const float* at = scores_ + r * W + c * kLanes;
          const vf even = exp2_short(vload(at) - top[c]);
          const vf odd = at + W < none ? exp2_short(vload(at + W) - top[c]) : vset(0);
          sum[c] += even + odd;
          const __m512i lo = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even));
          const __m512i hi = _mm512_slli_epi32(_mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd)), 16);
          _mm512_storeu_si512(weights_ + r / 2 * W + c * kLanes, _mm512_or_si512(lo, hi));
        }
      }
#endif
    } else {
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < NV; ++c) {
          const vf w = exp2_float(vload(scores_ + r * W + c * kLanes) - top[c]);
          sum[c] += w;
          vstore(weights_ + r * W + c * kLanes, w);
        }
      }
    }
  }

  void accumulate(int s, int j, int n, const vf (&alpha)[NV]) {
    const Cell* v = staged_values_;
    std::ptrdiff_t stride = stage_stride_;
    if constexpr (sizeof(T) == 4) {
      if (c_.staging == Staging::in_place) v = values_ + j * row_, stride = row_;
    }
    const int steps = kPairs ? (n + 1) / 2 : n;
    float* out = out_ + static_cast<std::ptrdiff_t>(s) * W * dim_;
    const bool fresh = !(started_ >> s & 1u);
    started_ |= 1u << s;
    int d = 0;
    for (; d + MR <= dim_; d += MR) value_rows<Op, NV, MR>(v + d, stride, weights_, steps, fresh, alpha, out + d * W);
    for (; d < dim_; ++d) value_rows<Op, NV, 1>(v + d, stride, weights_, steps, fresh, alpha, out + d * W);
  }

  void store_out() {
    T* o = static_cast<T*>(p_.o);
    for (std::int64_t r0 = 0; r0 < rows_; r0 += kLanes) {
      const float* strip = out_ + r0 / W * W * dim_ + r0 % W;
      const vf sum = vload(sum_ + r0);
      float inverse[kLanes];
      vstore(inverse, sum);
      for (float& x : inverse) x = x > 0 ? 1 / x : 0;
      const bool empty = !(started_ >> (r0 / W) & 1u);  // no key at all: out_ was never written
      const vf factor = vload(inverse);
      const int rows = static_cast<int>(std::min<std::int64_t>(kLanes, rows_ - r0));
      for (int d = 0; d < dim_; d += kLanes) {
        const int n = std::min(kLanes, dim_ - d);
        vf x[kLanes];
        for (int i = 0; i < kLanes; ++i) x[i] = i < n && !empty ? vload(strip + (d + i) * W) * factor : vset(0);
        transpose(x);
        for (int l = 0; l < rows; ++l) {
          T* to = o + row_at_[r0 + l] + d;
          if (n == kLanes) {
            vstore(to, x[l]);
          } else {
            vstore_part(to, x[l], n);
          }
        }
      }
    }
  }

  const Problem& p_;
  const Config& c_;
  const int dim_, steps_, strips_, stage_stride_;
  const std::int64_t row_, group_;
  Cell *queries_, *weights_, *staged_keys_, *staged_values_;
  float *out_, *scores_, *top_, *sum_;
  std::int64_t* row_at_;
  int *first_key_, *end_key_;
  std::int64_t b_ = 0, kv_head_ = 0, first_row_ = 0, rows_ = 0;
  unsigned started_ = 0;  // a bit per strip: out_ holds something
  const T *keys_ = nullptr, *values_ = nullptr;
};

// Items of one head follow each other, so that its keys stay in the last cache; the last rows, which see most, come first.
template <class T, class Op, int NV>
void blocked_items(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  const std::int64_t rows = p.q_len * p.group(), tiles = (rows + c.tile_q - 1) / c.tile_q;
  const std::size_t bytes = (BlockedItem<T, Op, NV>::scratch_bytes(p, c) + 4095) / 4096 * 4096;
  pool.for_each(c.threads, p.batch * p.kv_heads * tiles, 1, [&](std::int64_t item, int thread) {
    const std::int64_t head = item / tiles, first = (tiles - 1 - item % tiles) * c.tile_q;
    BlockedItem<T, Op, NV>(p, c, workspace + static_cast<std::size_t>(thread) * bytes)
        .run(head / p.kv_heads, head % p.kv_heads, first, std::min<std::int64_t>(c.tile_q, rows - first));
  });
}

// The widest strip, up to four vectors, that divides the tile.
template <class T, class Op>
void blocked_by_width(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  const int vectors = c.tile_q / kLanes;
  if (kLanes == 16 && vectors % 4 == 0) return blocked_items<T, Op, kLanes == 16 ? 4 : 2>(p, c, pool, workspace);
  if (vectors % 3 == 0) return blocked_items<T, Op, 3>(p, c, pool, workspace);
  if (vectors % 2 == 0) return blocked_items<T, Op, 2>(p, c, pool, workspace);
  blocked_items<T, Op, 1>(p, c, pool, workspace);
}

}  // namespace start
