// SPDX-License-Identifier: Apache-2.0
//
// Attention by mma.sync with an online softmax. A block has kRows rows (query positions x heads of a group) of one sequence and one
// key head, 16 rows a warp, and goes through its keys in tiles of kKeys; the next tile is on its way while one is computed with.
// Half is what tensor cores multiply: the inputs' own type, or what e4m3 keys and values are widened to once they have arrived.
#pragma once

#include "device.cuh"
#include "sequence.cuh"

namespace attention {

// With parts > 1: the output before normalisation, and per row {greatest logit in units of log 2, sum}. Indexed by part, row of q, head.
struct Parts {
  int count;
  float* outputs;
  float2* sums;
};

template <class HalfType, int kD_, int kDv_, bool kMla_, int kRows_, int kKeys_>
struct Config {
  using Half = HalfType;
  static constexpr int kD = kD_, kDv = kDv_, kRows = kRows_, kKeys = kKeys_;  // kDv: columns of v per block
  static constexpr bool kMla = kMla_;                                        // the values are columns of the keys' tile
  static constexpr int kThreads = kRows / 16 * 32;
  // Rows in shared memory are 16 bytes longer than they need be: eight of them then lie in different banks.
  static constexpr int kLineK = kD + 8, kLineV = kMla ? kLineK : kDv + 8;
  static constexpr int kTileK = kKeys * kLineK, kTileV = kMla ? 0 : kKeys * kLineV;  // elements
  static constexpr int kRawV = kMla ? 0 : kDv;
  static constexpr int kSharedBytes = 2 * (kRows * kLineK + 2 * (kTileK + kTileV));
};

template <class C>
class Block {
  using Half = typename C::Half;

 public:
  __device__ Block(const Problem& p, const Sequence& s, int kv_head, int first_row, int first_column, Half* memory)
      : p_(p), s_(s), group_(p.heads / p.kv_heads), kv_head_(kv_head), first_row_(first_row), first_column_(first_column), q_(memory), tiles_(memory + C::kRows * C::kLineK) {
    const int total = s.rows * group_;
    end_row_ = first_row + C::kRows < total ? first_row + C::kRows : total;
    raw_ = p.kv_kind == Kind::e4m3 && sizeof(Half) == 2;
    for (int half = 0; half < 2; ++half) {
      const int row = first_row_ + warp() * 16 + lane() / 4 + half * 8;
      span_[half] = visible(p_, s_, (row < end_row_ ? row : end_row_ - 1) / group_);
      peak_[half] = -INFINITY;
      sum_[half] = 0;
    }
    for (auto& tile : output_)
      for (float& value : tile) value = 0;
  }

  __device__ int first_visible() const { return visible(p_, s_, first_row_ / group_).first; }
  __device__ int last_visible() const { return visible(p_, s_, (end_row_ - 1) / group_).last; }

  // Keys [begin, end), begin a multiple of kKeys.
  __device__ void go(int begin, int end) {
    read_queries();
    int stage = 0;
    fetch(begin, stage);
    commit_copies();
    for (int key = begin; key < end; key += C::kKeys, stage ^= 1) {
      if (key + C::kKeys < end) fetch(key + C::kKeys, stage ^ 1);
      commit_copies();
      wait_for_copies<1>();
      __syncthreads();
      Half* k = tiles_ + stage * (C::kTileK + C::kTileV);
      if (raw_) {
        k = tiles_;
        widen_tile(stage);
        __syncthreads();
      }
      compute(key, k, C::kMla ? k + first_column_ : k + C::kTileK);
      __syncthreads();
    }
  }

  __device__ void write_output() {
    for (int half = 0; half < 2; ++half) {
      const float sum = whole_sum(half);
      const int row = own_row(half);
      if (row >= end_row_) continue;
      float share = sum > 0 ? 1 / sum : 0;
      if (p_.sink && sum > 0) {
        const float logit = __uint_as_float(static_cast<unsigned>(p_.sink[head(row)]) << 16) * kLog2E, top = fmaxf(logit, peak_[half]);
        const float shrink = exp2_fast(peak_[half] - top);
        share = shrink / (sum * shrink + exp2_fast(logit - top));
      }
      if (p_.v_descale) share *= p_.v_descale[s_.index * p_.kv_heads + kv_head_];
      const long long at = ((s_.first_q + row / group_) * p_.heads + head(row)) * p_.dv + first_column_ + lane() % 4 * 2;
      for (int n = 0; n < C::kDv / 8; ++n) {
        const float a = output_[n][2 * half] * share, b = output_[n][2 * half + 1] * share;
        // 8-bit inputs give bfloat16 outputs.
        const unsigned both = p_.q_kind == Kind::fp16 ? pack<__half>(a, b) : pack<__nv_bfloat16>(a, b);
        *reinterpret_cast<unsigned*>(static_cast<unsigned short*>(p_.o) + at + n * 8) = both;
      }
    }
  }

  __device__ void write_part(const Parts& parts, int part) {
    for (int half = 0; half < 2; ++half) {
      const float sum = whole_sum(half);
      const int row = own_row(half);
      if (row >= end_row_) continue;
      const long long at = (part * p_.total_q + s_.first_q + row / group_) * p_.heads + head(row);
      if (lane() % 4 == 0 && first_column_ == 0) parts.sums[at] = make_float2(peak_[half], sum);
      if (sum == 0) continue;  // the output of such a part is not read
      float* out = parts.outputs + at * p_.dv + first_column_ + lane() % 4 * 2;
      for (int n = 0; n < C::kDv / 8; ++n) *reinterpret_cast<float2*>(out + n * 8) = make_float2(output_[n][2 * half], output_[n][2 * half + 1]);
    }
  }

 private:
  static constexpr float kLog2E = 1.4426950408889634f;
  static constexpr int kScores = C::kKeys / 8;

  __device__ static int lane() { return threadIdx.x % 32; }
  __device__ static int warp() { return threadIdx.x / 32; }
  __device__ int own_row(int half) const { return first_row_ + warp() * 16 + lane() / 4 + half * 8; }
  __device__ int head(int row) const { return kv_head_ * group_ + row % group_; }

  __device__ float whole_sum(int half) const {
    float sum = sum_[half];
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    return sum + __shfl_xor_sync(0xffffffffu, sum, 2);
  }

  // The block's rows of q, widened where they are e4m3; rows past the end are zeros.
  __device__ void read_queries() {
    for (int i = threadIdx.x; i < C::kRows * (C::kD / 8); i += C::kThreads) {
      const int line = i / (C::kD / 8), column = i % (C::kD / 8) * 8, row = first_row_ + line;
      uint4 values = make_uint4(0, 0, 0, 0);
      if (row < end_row_) {
        const long long at = ((s_.first_q + row / group_) * p_.heads + head(row)) * C::kD + column;
        if (p_.q_kind == Kind::e4m3) values = widen8(*reinterpret_cast<const uint2*>(static_cast<const char*>(p_.q) + at));
        else values = *reinterpret_cast<const uint4*>(static_cast<const char*>(p_.q) + 2 * at);
      }
      *reinterpret_cast<uint4*>(q_ + line * C::kLineK + column) = values;
    }
  }

  __device__ static uint4 widen8(uint2 raw) {
    return make_uint4(widen<Half>(raw.x & 0xffffu), widen<Half>(raw.x >> 16), widen<Half>(raw.y & 0xffffu), widen<Half>(raw.y >> 16));
  }

  // Where a tile of e4m3 lands: behind the one widened tile, rows without padding.
  __device__ char* raw_tile(int stage) const {
    return reinterpret_cast<char*>(tiles_ + C::kTileK + C::kTileV) + stage * C::kKeys * (C::kD + C::kRawV);
  }

  // Starts the copies of keys and values [key, key + kKeys); zeros where there is none.
  __device__ void fetch(int key, int stage) {
    char* k = raw_ ? raw_tile(stage) : reinterpret_cast<char*>(tiles_ + stage * (C::kTileK + C::kTileV));
    const int bytes = raw_ ? 1 : 2;
    copy_lines(key, k, p_.k, C::kD * bytes, raw_ ? C::kD : 2 * C::kLineK);
    if constexpr (!C::kMla) copy_lines(key, k + (raw_ ? C::kKeys * C::kD : 2 * C::kTileK), p_.v, C::kDv * bytes, raw_ ? C::kDv : 2 * C::kLineV);
  }
  __device__ void copy_lines(int key, char* to, const void* tensor, int bytes, int stride) {
    const int chunks = bytes / 16;
    for (int i = threadIdx.x; i < C::kKeys * chunks; i += C::kThreads) {
      const int line = i / chunks, chunk = i % chunks;
      const bool there = key + line < s_.keys;
      const long long row = there ? key_row(s_, static_cast<int>(p_.page_size), key + line) : 0;
      copy_async(to + line * stride + chunk * 16, static_cast<const char*>(tensor) + (row * p_.kv_heads + kv_head_) * bytes + chunk * 16, there);
    }
  }

  __device__ void widen_tile(int stage) {
    widen_lines<C::kD, C::kLineK>(raw_tile(stage), tiles_);
    if constexpr (!C::kMla) widen_lines<C::kDv, C::kLineV>(raw_tile(stage) + C::kKeys * C::kD, tiles_ + C::kTileK);
  }
  template <int kColumns, int kLine>
  __device__ void widen_lines(const char* from, Half* to) {
    for (int i = threadIdx.x; i < C::kKeys * (kColumns / 8); i += C::kThreads) {
      const int line = i / (kColumns / 8), column = i % (kColumns / 8) * 8;
      *reinterpret_cast<uint4*>(to + line * kLine + column) = widen8(*reinterpret_cast<const uint2*>(from + line * kColumns + column));
    }
  }

  __device__ void compute(int key, const Half* k, const Half* v) {
    float scores[kScores][4] = {};
    multiply_queries(k, scores);
    scale_and_mask(key, scores);
    soften(scores);
    multiply_values(v, scores);
  }

  __device__ void multiply_queries(const Half* k, float (&scores)[kScores][4]) {
    const Half* q_row = q_ + (warp() * 16 + lane() % 16) * C::kLineK + lane() / 16 * 8;
    const Half* k_row = k + (lane() % 8 + lane() / 16 * 8) * C::kLineK + lane() / 8 % 2 * 8;
#pragma unroll C::kD > 256 ? 2 : C::kD / 16
    for (int column = 0; column < C::kD; column += 16) {
      unsigned a[4];
      load_matrices(a, q_row + column);
#pragma unroll
      for (int n = 0; n < kScores; n += 2) {
        unsigned b[4];
        load_matrices(b, k_row + n * 8 * C::kLineK + column);
        multiply<Half>(scores[n], a, b[0], b[1]);
        multiply<Half>(scores[n + 1], a, b[2], b[3]);
      }
    }
  }

  // Logits in units of log 2; -inf where a row does not see a key.
  __device__ void scale_and_mask(int key, float (&scores)[kScores][4]) {
    const int pair = s_.index * p_.kv_heads + kv_head_;
    float factor = p_.scale;
    if (p_.q_descale) factor *= p_.q_descale[pair];
    if (p_.k_descale) factor *= p_.k_descale[pair];
    if (p_.softcap > 0) {
      const float inner = factor / p_.softcap, outer = p_.softcap * kLog2E;
#pragma unroll
      for (int n = 0; n < kScores; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) scores[n][i] = outer * tanh_exact(scores[n][i] * inner);
    } else {
#pragma unroll
      for (int n = 0; n < kScores; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) scores[n][i] *= factor * kLog2E;
    }
    // Rows see ever later keys: the first row decides the end, the last row the beginning.
    const bool clean = key >= visible(p_, s_, (end_row_ - 1) / group_).first && key + C::kKeys - 1 <= visible(p_, s_, first_row_ / group_).last;
    if (clean) return;
#pragma unroll
    for (int n = 0; n < kScores; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int at = key + n * 8 + lane() % 4 * 2 + i % 2;
        if (at < span_[i / 2].first || at > span_[i / 2].last) scores[n][i] = -INFINITY;
      }
  }

  // Scores become weights relative to the greatest so far; what was summed before is brought to the same measure.
  __device__ void soften(float (&scores)[kScores][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = peak_[half];
#pragma unroll
      for (int n = 0; n < kScores; ++n) top = fmaxf(top, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 1));
      top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, 2));
      const float base = top == -INFINITY ? 0 : top;
      const float shrink = exp2_fast(peak_[half] - base);
      float added = 0;
#pragma unroll
      for (int n = 0; n < kScores; ++n)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) added += scores[n][i] = exp2_fast(scores[n][i] - base);
      sum_[half] = sum_[half] * shrink + added;
      peak_[half] = top;
#pragma unroll
      for (int n = 0; n < C::kDv / 8; ++n) {
        output_[n][2 * half] *= shrink;
        output_[n][2 * half + 1] *= shrink;
      }
    }
  }

  __device__ void multiply_values(const Half* v, const float (&weights)[kScores][4]) {
    const Half* v_row = v + (lane() % 8 + lane() / 8 % 2 * 8) * C::kLineV + lane() / 16 * 8;
#pragma unroll
    for (int n = 0; n < kScores; n += 2) {
      const unsigned a[4] = {pack<Half>(weights[n][0], weights[n][1]), pack<Half>(weights[n][2], weights[n][3]), pack<Half>(weights[n + 1][0], weights[n + 1][1]),
                             pack<Half>(weights[n + 1][2], weights[n + 1][3])};
#pragma unroll
      for (int column = 0; column < C::kDv; column += 16) {
        unsigned b[4];
        load_matrices_transposed(b, v_row + n * 8 * C::kLineV + column);
        multiply<Half>(output_[column / 8], a, b[0], b[1]);
        multiply<Half>(output_[column / 8 + 1], a, b[2], b[3]);
      }
    }
  }

  const Problem& p_;
  const Sequence& s_;
  int group_, kv_head_, first_row_, end_row_, first_column_;
  bool raw_;  // keys and values arrive as e4m3
  Half *q_, *tiles_;
  Span span_[2];  // of this thread's two rows
  float peak_[2], sum_[2];
  float output_[C::kDv / 8][4];
};

// Grid: row tiles x key heads x (sequence, part, chunk of the columns of v).
template <class C>
__global__ void __launch_bounds__(C::kThreads) attend(const Problem p, const Parts parts, bool last_first) {
  extern __shared__ __align__(16) unsigned char memory[];
  const int chunks = static_cast<int>(p.dv) / C::kDv, chunk = blockIdx.z % chunks, part = blockIdx.z / chunks % parts.count;
  const Sequence s = sequence_of(p, blockIdx.z / chunks / parts.count);
  const int group = p.heads / p.kv_heads;
  const int tiles = (s.rows * group + C::kRows - 1) / C::kRows;
  if (static_cast<int>(blockIdx.x) >= tiles) return;
  const int tile = last_first ? tiles - 1 - blockIdx.x : blockIdx.x;
  Block<C> block(p, s, blockIdx.y, tile * C::kRows, chunk * C::kDv, reinterpret_cast<typename C::Half*>(memory));
  const int from = block.first_visible() / C::kKeys, to = block.last_visible() < block.first_visible() ? from : block.last_visible() / C::kKeys + 1;
  const int each = (to - from + parts.count - 1) / parts.count;
  const int begin = from + part * each, end = begin + each < to ? begin + each : to;
  if (begin < end) block.go(begin * C::kKeys, end * C::kKeys);
  if (parts.count > 1) block.write_part(parts, part);
  else block.write_output();
}

}  // namespace attention
