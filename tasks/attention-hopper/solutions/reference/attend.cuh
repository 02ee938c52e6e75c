// SPDX-License-Identifier: Apache-2.0
//
// Attention by plain multiply-adds: no tensor cores, whose products round. Number is float or double.
//
// A block computes 128 rows of one sequence and one group of heads (a row is a query position and a head of the group) and
// kColumns columns of the output, key tile by key tile. Logits are summed in blocks of 32 columns and the blocks added up; a tile's
// products with v are summed alone and added to the total with the rounding error kept (Knuth's two-sum), so that errors do not grow
// with the number of keys. In double nothing is kept: its rounding is far below what a float output shows.
#pragma once

#include "read.cuh"

namespace attention {

constexpr int kRows = 128, kKeys = 64, kSlice = 32, kThreads = 256, kPad = 4;
constexpr int kRowsOfThread = 8, kKeysOfThread = 4;

// Whether partial sums are kept apart. In double they would need more registers than there are, for nothing.
template <class Number>
constexpr bool kParts = sizeof(Number) == 4;
template <bool kFirst, class A, class B>
__device__ auto& pick(A& a, B& b) {
  if constexpr (kFirst) return a;
  else return b;
}

// What the threads of a block share.
template <class Number, int kColumns>
struct Shared {
  Number q[kSlice][kRows + kPad];        // a slice of 32 columns of q, transposed
  Number k[kSlice][kKeys + kPad];        // the same of k
  Number weights[kKeys][kRows + kPad];   // logits, then weights
  Number v[kSlice][kColumns];            // 32 keys of v
  Number top[kThreads];                  // of each half row
  Number shrink[kRows];                  // what sums so far are multiplied by
  double share[kRows];                   // at the end: what a row's sums are multiplied by
  double sum[kThreads];
};

template <int kCount>
__device__ void copy(const float* from, float* to) {
  static_assert(kCount % 2 == 0);
  if constexpr (kCount % 4 == 0) {
    for (int i = 0; i < kCount; i += 4) *reinterpret_cast<float4*>(to + i) = *reinterpret_cast<const float4*>(from + i);
  } else {
    for (int i = 0; i < kCount; i += 2) *reinterpret_cast<float2*>(to + i) = *reinterpret_cast<const float2*>(from + i);
  }
}
template <int kCount>
__device__ void copy(const double* from, double* to) {
  for (int i = 0; i < kCount; i += 2) *reinterpret_cast<double2*>(to + i) = *reinterpret_cast<const double2*>(from + i);
}

// (total + low) * shrink + part, where low has been multiplied already: what the product and the sum lose to rounding goes into low.
__device__ inline void add(float& total, float& low, float shrink, float part) {
  const float scaled = __fmul_rn(total, shrink), lost = __fmaf_rn(total, shrink, -scaled);
  const float sum = __fadd_rn(scaled, part), back = __fadd_rn(sum, -scaled);
  low += __fadd_rn(__fadd_rn(scaled, -__fadd_rn(sum, -back)), __fadd_rn(part, -back)) + lost;
  total = sum;
}

// Which sequence and which rows a block has: tiles are counted through the batch.
__device__ inline bool find_tile(const Problem& p, int group, long long tile, Sequence& s, long long& first_row) {
  for (int index = 0; index < p.batch; ++index) {
    s = sequence_of(p, index);
    const long long tiles = (s.rows * group + kRows - 1) / kRows;
    if (tile < tiles) {
      first_row = tile * kRows;
      return true;
    }
    tile -= tiles;
  }
  return false;
}

// What a block works on.
struct Tile {
  Sequence s;
  int group, kv_head, pair;     // pair: index into the descales
  long long first_row, end_row;  // packed: query position x group + head of the group
  __device__ long long position(long long row) const { return row / group; }
  __device__ int head(long long row) const { return kv_head * group + static_cast<int>(row % group); }
};

// Logits, unscaled, of the tile's rows with keys [first_key, first_key + 64) into shared.weights. Thread (ty, tx) computes rows 8 ty + i
// and keys 4 tx + j.
template <class Number, class Memory>
__device__ void multiply_q_k(const Problem& p, const Tile& tile, long long first_key, Memory& shared) {
  const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
  const int column = tid % 4 * 8, line = tid / 4;
  const long long key = first_key + line;
  const bool has_key = key < tile.s.keys;
  const long long key_at = has_key ? (key_row(p, tile.s, key) * p.kv_heads + tile.kv_head) * p.d + column : 0;
  Number logits[kRowsOfThread][kKeysOfThread] = {};
  for (int slice = 0; slice < p.d; slice += kSlice) {
    __syncthreads();
    Number values[8];
    for (int half = 0; half < kRows; half += kKeys) {
      const long long row = tile.first_row + half + line;
      const bool has_row = row < tile.end_row;
      if (has_row) read8(p.q, p.q_kind, ((tile.s.first_q + tile.position(row)) * p.heads + tile.head(row)) * p.d + slice + column, values);
      for (int i = 0; i < 8; ++i) shared.q[column + i][half + line] = has_row ? values[i] : Number(0);
    }
    if (has_key) read8(p.k, p.kv_kind, key_at + slice, values);
    for (int i = 0; i < 8; ++i) shared.k[column + i][line] = has_key ? values[i] : Number(0);
    __syncthreads();
    Number block[kParts<Number> ? kRowsOfThread : 1][kKeysOfThread] = {};
    auto& part = pick<kParts<Number>>(block, logits);
#pragma unroll 4
    for (int at = 0; at < kSlice; ++at) {
      Number q[kRowsOfThread], k[kKeysOfThread];
      copy<kRowsOfThread>(&shared.q[at][ty * kRowsOfThread], q);
      copy<kKeysOfThread>(&shared.k[at][tx * kKeysOfThread], k);
#pragma unroll
      for (int i = 0; i < kRowsOfThread; ++i)
#pragma unroll
        for (int j = 0; j < kKeysOfThread; ++j) part[i][j] += q[i] * k[j];
    }
    if constexpr (kParts<Number>) {
#pragma unroll
      for (int i = 0; i < kRowsOfThread; ++i)
#pragma unroll
        for (int j = 0; j < kKeysOfThread; ++j) logits[i][j] += part[i][j];
    }
  }
#pragma unroll
  for (int i = 0; i < kRowsOfThread; ++i)
#pragma unroll
    for (int j = 0; j < kKeysOfThread; ++j) shared.weights[tx * kKeysOfThread + j][ty * kRowsOfThread + i] = logits[i][j];
}

// Softmax of one tile: logits in shared.weights become weights relative to the greatest logit so far. A thread has 32 keys of one row.
template <class Number>
struct Softmax {
  Number factor, softcap;
  long long row, from, to;  // visible keys of this thread's row
  Number peak = -INFINITY;
  double sum = 0;  // of this thread's keys

  template <class Memory>
  __device__ void soften(long long first_key, Memory& shared) {
    const int tid = threadIdx.x, line = tid % kRows, begin = tid / kRows * (kKeys / 2);
    __syncthreads();
    Number top = peak;
#pragma unroll 1
    for (int key = begin; key < begin + kKeys / 2; ++key) {
      Number x = shared.weights[key][line] * factor;
      if (softcap > 0) x = softcap * tanh(x / softcap);
      if (first_key + key < from || first_key + key > to) x = -INFINITY;
      shared.weights[key][line] = x;
      top = x > top ? x : top;
    }
    shared.top[tid] = top;
    __syncthreads();
    const Number other = shared.top[tid ^ kRows];
    top = other > top ? other : top;
    const Number base = top == Number(-INFINITY) ? Number(0) : top;  // no key seen yet: every weight is 0
    const Number shrink = exp(peak - base);
    sum *= shrink;
    peak = top;
#pragma unroll 1
    for (int key = begin; key < begin + kKeys / 2; ++key) {
      const Number weight = exp(shared.weights[key][line] - base);
      shared.weights[key][line] = weight;
      sum += weight;
    }
    if (begin == 0) shared.shrink[line] = shrink;
    __syncthreads();
  }

  // 1 / sum of the row's weights, the sink's included; 0 for a row that saw no key.
  template <class Memory>
  __device__ void finish(const unsigned short* sink, double v_descale, Memory& shared) {
    const int tid = threadIdx.x;
    shared.sum[tid] = sum;
    __syncthreads();
    const double whole = shared.sum[tid] + shared.sum[tid ^ kRows];
    double share = whole > 0 ? 1 / whole : 0;
    if (sink && whole > 0) {
      // Both terms of the denominator relative to the greater of peak and sink: neither overflows.
      const double logit = from_bf16(*sink), top = logit > peak ? logit : static_cast<double>(peak);
      const double shrink = exp(peak - top);
      share = shrink / (whole * shrink + exp(logit - top));
    }
    if (tid < kRows) shared.share[tid] = share * v_descale;
    __syncthreads();
  }
};

// The output so far: thread (ty, tx) has rows 8 ty + i and columns 16 kWidth g + kWidth tx + c. `low` is what rounding took from `total`.
template <class Number, int kColumns>
struct Output {
  static constexpr int kWidth = kColumns % 64 == 0 ? 4 : 2, kGroups = kColumns / (16 * kWidth), kOwn = kWidth * kGroups;
  static constexpr bool kLow = kParts<Number>;
  Number total[kRowsOfThread][kOwn] = {};
  float low[kLow ? kRowsOfThread : 1][kOwn] = {};

  // Adds weights x v over keys [first_key, first_key + 64).
  __device__ void add_tile(const Problem& p, const Tile& tile, long long first_key, int first_column, Shared<Number, kColumns>& shared) {
    const int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    Number block[kLow ? kRowsOfThread : 1][kOwn] = {};
    auto& part = pick<kLow>(block, total);
    if constexpr (!kLow) {
#pragma unroll
      for (int i = 0; i < kRowsOfThread; ++i)
#pragma unroll
        for (int c = 0; c < kOwn; ++c) total[i][c] *= shared.shrink[ty * kRowsOfThread + i];
    }
    for (int half = 0; half < kKeys; half += kSlice) {
      if (half > 0) __syncthreads();
      for (int at = tid; at < kSlice * kColumns / 8; at += kThreads) {
        const int line = at / (kColumns / 8), column = at % (kColumns / 8) * 8;
        const long long key = first_key + half + line;
        Number values[8] = {};
        if (key < tile.s.keys)
          read8(p.v, p.kv_kind, (key_row(p, tile.s, key) * p.kv_heads + tile.kv_head) * (p.mla ? p.d : p.dv) + first_column + column, values);
        for (int i = 0; i < 8; ++i) shared.v[line][column + i] = values[i];
      }
      __syncthreads();
#pragma unroll 2
      for (int at = 0; at < kSlice; ++at) {
        Number w[kRowsOfThread], v[kOwn];
        copy<kRowsOfThread>(&shared.weights[half + at][ty * kRowsOfThread], w);
#pragma unroll
        for (int g = 0; g < kGroups; ++g) copy<kWidth>(&shared.v[at][g * 16 * kWidth + tx * kWidth], v + g * kWidth);
#pragma unroll
        for (int i = 0; i < kRowsOfThread; ++i)
#pragma unroll
          for (int c = 0; c < kOwn; ++c) part[i][c] += w[i] * v[c];
      }
    }
    if constexpr (kLow) {
#pragma unroll
      for (int i = 0; i < kRowsOfThread; ++i) {
        const float shrink = shared.shrink[ty * kRowsOfThread + i];
#pragma unroll
        for (int c = 0; c < kOwn; ++c) {
          low[i][c] *= shrink;
          add(total[i][c], low[i][c], shrink, part[i][c]);
        }
      }
    }
  }

  __device__ void write(const Problem& p, const Tile& tile, int first_column, const Shared<Number, kColumns>& shared) {
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int i = 0; i < kRowsOfThread; ++i) {
      const long long row = tile.first_row + ty * kRowsOfThread + i;
      if (row >= tile.end_row) continue;
      float* out = static_cast<float*>(p.o) + ((tile.s.first_q + tile.position(row)) * p.heads + tile.head(row)) * p.dv + first_column;
#pragma unroll
      for (int c = 0; c < kOwn; ++c) {
        double value = total[i][c];
        if constexpr (kLow) value += low[i][c];
        out[c / kWidth * 16 * kWidth + tx * kWidth + c % kWidth] = static_cast<float>(value * shared.share[ty * kRowsOfThread + i]);
      }
    }
  }
};

template <class Number, int kColumns>
__global__ void __launch_bounds__(kThreads, 1) attend(const Problem p) {
  extern __shared__ __align__(16) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<Number, kColumns>*>(memory);
  Tile tile;
  tile.group = p.heads / p.kv_heads;
  tile.kv_head = blockIdx.y;
  if (!find_tile(p, tile.group, blockIdx.x, tile.s, tile.first_row)) return;
  const long long rows = tile.s.rows * tile.group;
  tile.end_row = tile.first_row + kRows < rows ? tile.first_row + kRows : rows;
  tile.pair = tile.s.index * p.kv_heads + tile.kv_head;
  const int first_column = blockIdx.z * kColumns;

  const long long own = tile.first_row + threadIdx.x % kRows, row = own < tile.end_row ? own : tile.end_row - 1;
  Softmax<Number> softmax;
  softmax.factor = Number(p.scale) * (p.q_descale ? Number(p.q_descale[tile.pair]) : Number(1)) * (p.k_descale ? Number(p.k_descale[tile.pair]) : Number(1));
  softmax.softcap = p.softcap;
  softmax.from = first_visible(p, tile.s, tile.position(row));
  softmax.to = last_visible(p, tile.s, tile.position(row));

  Output<Number, kColumns> output;
  const long long lowest = first_visible(p, tile.s, tile.position(tile.first_row)), highest = last_visible(p, tile.s, tile.position(tile.end_row - 1));
  for (long long first_key = lowest / kKeys * kKeys; first_key <= highest; first_key += kKeys) {
    multiply_q_k<Number>(p, tile, first_key, shared);
    softmax.soften(first_key, shared);
    output.add_tile(p, tile, first_key, first_column, shared);
  }
  softmax.finish(p.sink ? p.sink + tile.head(row) : nullptr, p.v_descale ? p.v_descale[tile.pair] : 1.0, shared);
  output.write(p, tile, first_column, shared);
}

}  // namespace attention
