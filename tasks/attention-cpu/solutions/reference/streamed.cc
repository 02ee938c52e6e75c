// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "doubles.h"
#include "problem.h"

namespace reference {
namespace {

constexpr Index kKeys = 64;     // keys of a block
constexpr Index kMaxRows = 8;   // rows that share one pass over the keys
constexpr Index kMinSplit = 256;  // keys of a range, at least
constexpr Index kMaxSplits = 64;

/// How the work is cut: heads x row groups x ranges of keys. A range leaves a partial result, and the last step merges.
struct Cut {
  Index heads, row_groups, splits, split_keys;
  Index partial;     // doubles of a partial result: output, peak, sum
  Index per_thread;  // doubles: queries, logits

  explicit Cut(const Problem& p)
      : heads(p.batch * p.kv_heads), row_groups(divide_up(p.rows(), kMaxRows)),
        splits(std::clamp<Index>(divide_up(2 * p.threads, std::max<Index>(1, heads * row_groups)), 1,
                                 std::clamp<Index>(p.kv_len / kMinSplit, 1, kMaxSplits))),
        split_keys(round_up(divide_up(std::max<Index>(p.kv_len, 1), splits), kKeys)), partial(kMaxRows * (p.head_dim + 2)),
        per_thread(kMaxRows * (p.head_dim + kKeys)) {}
};

template <class T>
inline void prefetch_rows(const T* rows, Index stride, Index count, Index dim) {
  for (Index j = 0; j < count; ++j) {
    const char* row = reinterpret_cast<const char*>(rows + j * stride);
    for (Index at = 0; at < dim * Index(sizeof(T)); at += 64) __builtin_prefetch(row + at, 0, 2);
  }
}

/// logits[r][j] = queries[r] . keys[j] for `count` keys. kTogether keys at a time hide the latency of the sums.
template <int kR, int kTogether, class T>
void multiply_keys(const double* queries, const T* keys, Index stride, Index count, Index dim, double* logits) {
  static_assert(kR * kTogether % kLanes == 0);
  for (Index j = 0; j < count; j += kTogether) {
    const T* key[kTogether];
    for (int t = 0; t < kTogether; ++t) key[t] = keys + std::min(j + t, count - 1) * stride;
    Doubles sum[kTogether * kR] = {};
    for (Index d = 0; d < dim; d += kLanes) {
      Doubles wide[kTogether];
#pragma GCC unroll 8
      for (int t = 0; t < kTogether; ++t) wide[t] = load(key[t] + d);
#pragma GCC unroll 8
      for (int r = 0; r < kR; ++r) {
        const Doubles x = load(queries + r * dim + d);
#pragma GCC unroll 8
        for (int t = 0; t < kTogether; ++t) sum[t * kR + r] += x * wide[t];
      }
    }
    double flat[kTogether * kR];
#pragma GCC unroll 8
    for (int i = 0; i < kTogether * kR; i += kLanes) store(flat + i, sums_of(sum + i));
    for (int t = 0; t < kTogether && j + t < count; ++t) {
      for (int r = 0; r < kR; ++r) logits[r * kKeys + j + t] = flat[t * kR + r];
    }
  }
}

/// out[r] += sum over j of weights[r][j] * values[j].
template <int kR, class T>
void add_values(const double* weights, const T* values, Index stride, Index count, Index dim, double* out) {
  for (Index d = 0; d < dim; d += 2 * kLanes) {
    Doubles sum[kR][2];
    for (int r = 0; r < kR; ++r) {
      sum[r][0] = load(out + r * dim + d);
      sum[r][1] = load(out + r * dim + d + kLanes);
    }
    for (Index j = 0; j < count; ++j) {
      const Doubles left = load(values + j * stride + d);
      const Doubles right = load(values + j * stride + d + kLanes);
#pragma GCC unroll 8
      for (int r = 0; r < kR; ++r) {
        const Doubles w = spread(weights[r * kKeys + j]);
        sum[r][0] += w * left;
        sum[r][1] += w * right;
      }
    }
    for (int r = 0; r < kR; ++r) {
      store(out + r * dim + d, sum[r][0]);
      store(out + r * dim + d + kLanes, sum[r][1]);
    }
  }
}

/// kR rows from row0 over keys [begin, end); rows behind the last one repeat it.
template <int kR, int kTogether, class T>
void stream_rows(const Problem& p, const T* q, const T* k, const T* v, Index b, Index head, Index row0, Index rows,
                 Index begin, Index end, double* scratch, double* partial) {
  const Index dim = p.head_dim;
  const Index stride = p.key_stride();
  double* queries = scratch;
  double* logits = queries + kMaxRows * dim;
  double* out = partial;
  double* peak = out + kMaxRows * dim;
  double* sum = peak + kMaxRows;
  for (Index r = 0; r < kR; ++r) {
    const T* from = q + p.row_offset(b, head, row0 + std::min(r, rows - 1));
    for (Index d = 0; d < dim; d += kLanes) store(queries + r * dim + d, load(from + d) * p.scale);
  }
  std::fill(out, out + kR * dim, 0.0);
  std::fill(peak, peak + kR, -INFINITY);
  std::fill(sum, sum + kR, 0.0);
  begin = std::max(begin, p.first_key(row0));
  end = std::min(end, p.end_key(row0 + rows - 1));
  const Index base = p.head_offset(b, head);
  for (Index j0 = begin; j0 < end; j0 += kKeys) {
    const Index count = std::min(kKeys, end - j0);
    const T* keys = k + base + j0 * stride;
    const T* values = v + base + j0 * stride;
    prefetch_rows(values, stride, count, dim);
    multiply_keys<kR, kTogether>(queries, keys, stride, count, dim, logits);
    for (Index r = 0; r < kR; ++r) {
      const Index row = row0 + std::min(r, rows - 1);
      const double factor = softmax_block(logits + r * kKeys, p.first_key(row) - j0, std::min(count, p.end_key(row) - j0),
                                          round_up(count, kLanes), peak + r, sum + r);
      if (factor == 1.0) continue;
      for (Index d = 0; d < dim; ++d) out[r * dim + d] *= factor;
    }
    if (j0 + kKeys < end) prefetch_rows(keys + kKeys * stride, stride, std::min(kKeys, end - j0 - kKeys), dim);
    add_values<kR>(logits, values, stride, count, dim, out);
  }
}

/// Merges the partial results of one row group and writes its rows.
void merge(const Problem& p, const Cut& cut, const double* partials, Index b, Index head, Index row0, Index rows, float* o) {
  const Index dim = p.head_dim;
  for (Index r = 0; r < rows; ++r) {
    double peak = -INFINITY;
    for (Index s = 0; s < cut.splits; ++s) peak = std::max(peak, partials[s * cut.partial + kMaxRows * dim + r]);
    double factors[kMaxSplits];
    double total = 0.0;
    for (Index s = 0; s < cut.splits; ++s) {
      const double* part = partials + s * cut.partial + kMaxRows * dim + r;
      factors[s] = part[0] == -INFINITY ? 0.0 : std::exp(part[0] - peak);
      total += factors[s] * part[kMaxRows];
    }
    const double inverse = total > 0.0 ? 1.0 / total : 0.0;
    float* to = o + p.row_offset(b, head, row0 + r);
    for (Index d = 0; d < dim; d += kLanes) {
      Doubles x{};
      for (Index s = 0; s < cut.splits; ++s) x += load(partials + s * cut.partial + r * dim + d) * factors[s];
      store(to + d, x * inverse);
    }
  }
}

}  // namespace

std::uint64_t streamed_workspace(const Problem& p) {
  const Cut cut(p);
  return std::uint64_t((cut.heads * cut.row_groups * cut.splits) * cut.partial + p.threads * cut.per_thread) *
         sizeof(double);
}

template <class T>
void run_streamed(const Problem& p, const T* q, const T* k, const T* v, float* o, double* workspace) {
  const Cut cut(p);
  const Index groups = cut.heads * cut.row_groups;
  double* partials = workspace;
  double* scratch = partials + groups * cut.splits * cut.partial;
  Index next_scratch = 0;
  const auto place = [&](Index group, Index* b, Index* head, Index* row0, Index* rows) {
    *b = group / cut.row_groups / p.kv_heads;
    *head = group / cut.row_groups % p.kv_heads;
    *row0 = group % cut.row_groups * kMaxRows;
    *rows = std::min(kMaxRows, p.rows() - *row0);
  };
#pragma omp parallel num_threads(p.threads)
  {
    Index mine;
#pragma omp atomic capture
    mine = next_scratch++;
    double* my_scratch = scratch + mine * cut.per_thread;
    const Index chunk = std::max<Index>(1, groups * cut.splits / (8 * p.threads));
#pragma omp for schedule(dynamic, chunk)
    for (Index task = 0; task < groups * cut.splits; ++task) {
      Index b, head, row0, rows;
      place(task / cut.splits, &b, &head, &row0, &rows);
      const Index begin = task % cut.splits * cut.split_keys;
      const Index end = std::min(p.kv_len, begin + cut.split_keys);
      double* partial = partials + task * cut.partial;
      if (rows == 1) {
        stream_rows<1, 8>(p, q, k, v, b, head, row0, rows, begin, end, my_scratch, partial);
      } else if (rows == 2) {
        stream_rows<2, 4>(p, q, k, v, b, head, row0, rows, begin, end, my_scratch, partial);
      } else if (rows <= 4) {
        stream_rows<4, 4>(p, q, k, v, b, head, row0, rows, begin, end, my_scratch, partial);
      } else {
        stream_rows<8, 2>(p, q, k, v, b, head, row0, rows, begin, end, my_scratch, partial);
      }
      if (cut.splits == 1) merge(p, cut, partial, b, head, row0, rows, o);
    }
    if (cut.splits > 1) {
#pragma omp for schedule(static)
      for (Index group = 0; group < groups; ++group) {
        Index b, head, row0, rows;
        place(group, &b, &head, &row0, &rows);
        merge(p, cut, partials + group * cut.splits * cut.partial, b, head, row0, rows, o);
      }
    }
  }
}

template void run_streamed(const Problem&, const float*, const float*, const float*, float*, double*);
template void run_streamed(const Problem&, const Bf16*, const Bf16*, const Bf16*, float*, double*);

}  // namespace reference
