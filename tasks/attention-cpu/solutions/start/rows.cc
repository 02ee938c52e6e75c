// SPDX-License-Identifier: Apache-2.0
//
// The two simple paths: one query row at a time. `vectorised` reads the keys in blocks with an online softmax; `plain`
// is scalar code in two passes over the scores, which the compiler may vectorise.
#include "pool.h"
#include "row_set.h"

namespace start {
namespace {

constexpr std::size_t kPage = 4096;

std::size_t page_round(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Calls body(b, h, i, thread) for every query row, the later rows of a head first; few rows at a time to a thread.
template <class Body>
void for_each_row(const Problem& p, const Config& c, Pool& pool, const Body& body) {
  const std::int64_t rows = p.batch * p.q_heads * p.q_len;
  const std::int64_t grain = std::clamp<std::int64_t>(rows / (8 * c.threads), 1, 64);
  pool.for_each(c.threads, rows, grain, [&](std::int64_t item, int thread) {
    const std::int64_t head = item / p.q_len, i = p.q_len - 1 - item % p.q_len;
    body(head / p.q_heads, head % p.q_heads, i, thread);
  });
}

// One visible key has weight 1 whatever its score, so the row is that V; no visible key gives zeros.
template <class T>
void store_trivial(const Problem& p, std::int64_t b, std::int64_t i, std::int64_t h, int key, bool any) {
  const std::size_t bytes = static_cast<std::size_t>(p.head_dim) * sizeof(T);
  T* o = static_cast<T*>(p.o) + ((b * p.q_len + i) * p.q_heads + h) * p.head_dim;
  if (any) {
    std::memcpy(o, static_cast<const T*>(p.v) + ((b * p.kv_len + key) * p.kv_heads + h / p.group()) * p.head_dim, bytes);
  } else {
    std::memset(o, 0, bytes);
  }
}

template <class T>
void vectorised(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  const std::size_t bytes = page_round(RowSet<T, true>::bytes(p, 1, c.tile_kv));
  for_each_row(p, c, pool, [&](std::int64_t b, std::int64_t h, std::int64_t i, int thread) {
    const int first = p.first_key(i), end = p.end_key(i);
    if (end - first <= 1) return store_trivial<T>(p, b, i, h, first, end > first);
    char* memory = workspace + static_cast<std::size_t>(thread) * bytes;
    RowSet<T, true> row(p, 1, c.tile_kv, memory);
    row.load(0, b, i, h);
    for (int j = first; j < end; j += c.tile_kv) {
      row.see(0, 1, b, h / p.group(), j, std::min(c.tile_kv, end - j), c.prefetch != 0);
    }
    const float sum = row.partial(0).sum;
    store_row<T>(p, b, i, h, row.result(0), sum > 0 ? 1 / sum : 0);
  });
}

template <class T>
void plain(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  const int dim = static_cast<int>(p.head_dim);
  const std::size_t floats = (static_cast<std::size_t>(p.kv_len) + 2 * static_cast<std::size_t>(dim) + 1023) / 1024 * 1024;
  const std::int64_t stride = p.kv_heads * p.head_dim;
  for_each_row(p, c, pool, [&](std::int64_t b, std::int64_t h, std::int64_t i, int thread) {
    float* q = reinterpret_cast<float*>(workspace) + static_cast<std::size_t>(thread) * floats;
    float* out = q + dim;
    float* score = out + dim;
    const T* from = static_cast<const T*>(p.q) + ((b * p.q_len + i) * p.q_heads + h) * dim;
    for (int d = 0; d < dim; ++d) {
      q[d] = widen(from[d]) * p.scale;
      out[d] = 0;
    }
    const int first = p.first_key(i), end = p.end_key(i);
    const std::int64_t head = b * p.kv_len * stride + h / p.group() * dim;
    const T* k = static_cast<const T*>(p.k) + head;
    const T* v = static_cast<const T*>(p.v) + head;

    float top = kNoMax, sum = 0;
    for (int j = first; j < end; ++j) {
      const T* key = k + j * stride;
      float lane[8] = {};
      int d = 0;
      for (; d + 8 <= dim; d += 8) {
        for (int l = 0; l < 8; ++l) lane[l] += q[d + l] * widen(key[d + l]);
      }
      for (; d < dim; ++d) lane[0] += q[d] * widen(key[d]);
      score[j] = ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
      top = std::max(top, score[j]);
    }
    for (int j = first; j < end; ++j) {
      const float w = std::exp(score[j] - top);
      sum += w;
      for (int d = 0; d < dim; ++d) out[d] += w * widen(v[j * stride + d]);
    }
    store_row<T>(p, b, i, h, out, sum > 0 ? 1 / sum : 0);
  });
}

}  // namespace

std::size_t rows_workspace(const Problem& p, const Config& c) {
  return page_round(RowSet<float, false>::bytes(p, 1, c.tile_kv)) * static_cast<std::size_t>(c.threads);
}

void rows_run(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  p.bf16 ? vectorised<Bf16>(p, c, pool, workspace) : vectorised<float>(p, c, pool, workspace);
}

std::size_t plain_workspace(const Problem& p, const Config& c) {
  return (static_cast<std::size_t>(p.kv_len + 2 * p.head_dim) + 1023) / 1024 * 1024 * 4 * static_cast<std::size_t>(c.threads);
}

void plain_run(const Problem& p, const Config& c, Pool& pool, char* workspace) {
  p.bf16 ? plain<Bf16>(p, c, pool, workspace) : plain<float>(p, c, pool, workspace);
}

}  // namespace start
