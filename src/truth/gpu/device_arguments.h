// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// What the worker passes to its own code on the device (device_code.cu), and the formulas that both sides compute. Compiled by nvcc as C++20 too,
// so only C headers here.
#include "truth/measure/mutation_arithmetic.h"

namespace whet::gpu {

// As whet::Dtype, whose order device_work.cc asserts.
enum Format : int32_t { kFloat64, kFloat32, kFloat16, kBfloat16, kE4m3, kE5m2, kE2m1, kInt64, kInt32, kInt16, kInt8, kBool };

constexpr int kQuantiles = 1 << 12;
constexpr int kMostRanges = 64;

struct Key {
  uint32_t words[4];
};

// The address of a tensor is always that of its element 0; [begin, end) are elements.
struct NormalArguments {
  uint64_t data, table;  // kQuantiles entries of 32 bits, of 64 for elements of 8 bytes
  int64_t begin, end;
  Key key;
};
struct ElementArguments {
  uint64_t data;
  int64_t begin, end;
  Key key;
  int32_t format, is_index, is_integer, reserved;  // index: below(bits, bound); else low + span * part
  uint64_t bound;
  double low, span;
};
struct PlantArguments {
  uint64_t data;
  int64_t begin, end, row, peaks;
  Key key;
  int32_t width, reserved;  // bytes of an element
  uint64_t plus, minus;     // the two peaks, in the tensor's format
};
struct FillArguments {
  uint64_t data;
  int64_t begin, end;
  uint64_t bits;
  int32_t width, reserved;
};

struct CompareArguments {
  uint64_t got, want, parts;  // one Part per block
  int64_t count;
  double rtol, floor;  // an element's bound is rtol * |want| + floor
  int32_t format, want_format, match_special, reserved;
};
// As whet::Comparison; of a block, or of all.
struct Part {
  int64_t failing, worst_index, not_finite;
  double worst_bound, worst_absolute, worst_relative, error_squares, got, want;
};
struct ReduceArguments {
  CompareArguments compared;
  uint64_t result;
  int64_t blocks;
};
struct SumArguments {
  uint64_t data, parts;  // one uint64_t (or Magnitude) per block
  uint64_t other;
  int64_t count;
  int32_t format, width;
};
struct ReduceSumArguments {
  uint64_t parts, result;
  int64_t blocks;
};
// As whet::Magnitude; of a block, or of all.
struct Magnitude {
  double squares;
  int64_t elements;
};
struct ConvertArguments {
  uint64_t from, to;  // from float32
  int64_t count;
  int32_t format, reserved;
};

// Wrong contents. Extents are in words of `width` bytes (16, 8, 4, 2 or 1), to which everything is aligned.
struct TailArguments {
  uint64_t data;
  int64_t runs, first, stride, words;  // `runs` stretches of `words`
  int32_t width, reserved;
};
struct RepeatArguments {
  uint64_t to, from;
  int64_t words, period;
  int32_t width, reserved;
};
struct RoundArguments {
  uint64_t data;
  int64_t count;
  int32_t format, kept;  // mantissa bits
};

struct Range {
  uint64_t address, bytes;
};
struct RangesArguments {
  Range ranges[kMostRanges];
  uint64_t result;
  int32_t count, reserved;
};
// Red zones: ranges [0, count) end where a tensor begins, ranges [count, 2 count) begin where it ends; result[i] is the least distance of a damaged byte.
struct SampleArguments {
  Range ranges[kMostRanges];
  uint64_t result, salt;
  int32_t count, reserved;
};
struct FlushArguments {
  uint64_t data;
  int64_t count;  // of 16 bytes
};
// In memory of the host that the device sees. The blocker ends when `release` equals its sequence, or after a second.
struct BlockWord {
  uint32_t release, gave_up;
  uint64_t clocks, ns;  // of the multiprocessor and of the global timer, while it waited: the clock right before the call
  uint32_t begun, reserved;
};
struct BlockArguments {
  uint64_t word;
  uint32_t sequence, reserved;
  uint64_t limit_ns;
};
constexpr uint64_t kBlockLimitNs = 1000000000, kClockNs = 20000;

// As in truth/measure/draw.h.
WHET_BOTH uint32_t random_word(const Key& key, uint32_t counter_low, uint32_t counter_high) {
  uint32_t x = counter_low + key.words[0] + counter_high * 0x9e3779b1u;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  x += key.words[1];
  x *= 0x846ca68bu;
  x ^= x >> 16;
  x ^= key.words[2];
  x *= 0x9e3779b1u;
  x ^= x >> 15;
  return x;
}
WHET_BOTH uint32_t word_at(Key key, int64_t index, uint32_t stream) {
  key.words[2] ^= stream * 0x85ebca6bu;
  return random_word(key, (uint32_t)index, (uint32_t)((uint64_t)index >> 32));
}
WHET_BOTH uint64_t scaled_below(uint32_t bits, uint64_t bound) { return ((uint64_t)bits * bound) >> 32; }

// A digest is the sum of mixed(word, place) over the 8-byte words of a buffer, the last one padded with zeros, and mixed with the length: blocks may
// be summed in any order, and two words that change places change it.
WHET_BOTH uint64_t mixed(uint64_t word, uint64_t place) {
  uint64_t x = (place + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x ^= word;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
  x ^= word >> 32;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x ^ (x >> 32);
}
WHET_BOTH uint64_t finished_digest(uint64_t sum, uint64_t bytes) { return mixed(sum, bytes ^ 0x5bf0363546a3cb1du); }

// As runner::sample: 32 places that `salt` chooses.
constexpr int kSamplePlaces = 32;
WHET_BOTH uint64_t sample_place(uint64_t words, uint64_t salt, uint32_t i) {
  const uint64_t dice = (salt + i) * 0x9e3779b97f4a7c15u;
  return words <= kSamplePlaces ? i % words : ((dice >> 32) * words) >> 32;
}
WHET_BOTH uint64_t sample_step(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0xff51afd7ed558ccdu;
  return state ^ (state >> 32);
}
WHET_BOTH uint64_t sample_tail_step(uint64_t state, uint8_t byte) { return (state ^ byte) * 0xff51afd7ed558ccdu; }

}  // namespace whet::gpu
