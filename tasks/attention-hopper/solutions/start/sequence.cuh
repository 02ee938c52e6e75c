// SPDX-License-Identifier: Apache-2.0
//
// Sequences of the batch, the rows of a block, and which keys a row sees.
#pragma once

#include "problem.h"

namespace attention {

struct Sequence {
  int index;
  int rows, keys, first_key;
  long long first_q;     // row of q
  long long first_k;     // row of k and v; paged: of the page table
  const int* page_table;
};

__device__ inline Sequence sequence_of(const Problem& p, int index) {
  Sequence s;
  s.index = index;
  s.first_q = p.first_q ? p.first_q[index] : index * p.q_len;
  s.rows = static_cast<int>(p.first_q ? p.first_q[index + 1] - p.first_q[index] : p.q_len);
  s.keys = static_cast<int>(p.first_k ? p.first_k[index + 1] - p.first_k[index] : p.used_k ? p.used_k[index] : p.kv_len);
  s.first_key = p.leftpad ? p.leftpad[index] : 0;
  s.first_k = p.first_k ? p.first_k[index] : index * p.kv_len;
  s.page_table = p.page_table ? p.page_table + index * p.pages_per_seq : nullptr;
  return s;
}

__device__ inline long long key_row(const Sequence& s, int page_size, int j) {
  return s.page_table ? static_cast<long long>(s.page_table[j / page_size]) * page_size + j % page_size : s.first_k + j;
}

// Keys [first, last] that query row i sees; none where last < first.
struct Span {
  int first, last;
};
__device__ inline Span visible(const Problem& p, const Sequence& s, int i) {
  const long long at = static_cast<long long>(i) + s.keys - s.rows;
  const long long low = p.left < 0 ? 0 : at - p.left, high = p.right < 0 ? s.keys - 1 : at + p.right;
  return {low > s.first_key ? static_cast<int>(low < s.keys ? low : s.keys) : s.first_key,
          high < s.keys - 1 ? static_cast<int>(high > -1 ? high : -1) : s.keys - 1};
}

}  // namespace attention
