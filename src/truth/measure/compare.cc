// SPDX-License-Identifier: Apache-2.0
#include "truth/measure/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/halves.h"
#include "truth/measure/number_format.h"
#include "truth/measure/vectorise.h"

namespace whet {
namespace {

// Elements are compared in tiles that stay in the first cache: widened once, then measured by loops that vectorise.
constexpr int64_t kTile = 1024;

WHET_VECTORISED void widen_bfloat16(const uint16_t* from, float* to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = std::bit_cast<float>(uint32_t{from[i]} << 16);
}

// Vectors of sixteen lanes, in the compiler's own notation: lowered to whatever the chosen clone has, summed in one fixed order.
typedef float Floats __attribute__((vector_size(64)));
typedef int32_t Ints __attribute__((vector_size(64)));
typedef double Doubles __attribute__((vector_size(128)));

// Of finite values; else `squares` is not finite. `count` is below 2^35: a lane counts in 32 bits.
WHET_VECTORISED Magnitude magnitude_of_finite(const float* values, int64_t count) {
  Doubles partial = {};
  Ints zeros = {};
  for (int64_t i = 0; i + 16 <= count; i += 16) {
    Floats narrow;
    std::memcpy(&narrow, values + i, sizeof narrow);
    const Doubles wide = __builtin_convertvector(narrow, Doubles);
    partial += wide * wide;
    zeros -= narrow == 0.0f;
  }
  Magnitude sum{0, count};
  for (int lane = 0; lane < 16; ++lane) sum.squares += partial[lane], sum.elements -= zeros[lane];
  for (int64_t i = count / 16 * 16; i < count; ++i) {
    sum.squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    sum.elements -= values[i] == 0;
  }
  return sum;
}

struct TileResult {
  float worst = 0;        // max of |got - want| / bound
  float absolute = 0;
  double error_squares = 0;
  int32_t not_finite = 0;
};

// `count` is a multiple of 16. NaN fails every comparison, so it is counted by its exponent bits and not by arithmetic; non-negative floats
// are ordered as their bits are.
WHET_VECTORISED TileResult measure_tile(const float* got, const float* want, int64_t count, float rtol, float floor) {
  const Ints magnitude = Ints{} + 0x7fffffff, exponent = Ints{} + 0x7f800000;
  Ints worst = {}, absolute = {}, bad = {};
  Doubles squares = {};
  for (int64_t i = 0; i < count; i += 16) {
    Floats a, b;
    std::memcpy(&a, got + i, sizeof a);
    std::memcpy(&b, want + i, sizeof b);
    const Ints error_bits = reinterpret_cast<Ints>(a - b) & magnitude;
    const Floats error = reinterpret_cast<Floats>(error_bits);
    const Ints ratio = reinterpret_cast<Ints>(error / (reinterpret_cast<Floats>(reinterpret_cast<Ints>(b) & magnitude) * rtol + floor));
    worst = ratio > worst ? ratio : worst;
    absolute = error_bits > absolute ? error_bits : absolute;
    const Doubles wide = __builtin_convertvector(error, Doubles);
    squares += wide * wide;
    bad -= (reinterpret_cast<Ints>(a) & exponent) == exponent;
  }
  TileResult result;
  for (int lane = 0; lane < 16; ++lane) {
    result.worst = std::max(result.worst, std::bit_cast<float>(static_cast<int32_t>(worst[lane])));
    result.absolute = std::max(result.absolute, std::bit_cast<float>(static_cast<int32_t>(absolute[lane])));
    result.error_squares += squares[lane];
    result.not_finite += bad[lane];
  }
  return result;
}

bool same_special(double got, double want) { return (std::isnan(got) && std::isnan(want)) || (std::isinf(got) && got == want); }

// The exact walk, element by element: for formats without a fast path, for tails, and for tiles that hold a failure.
class Walk {
 public:
  Walk(const Tolerance& tolerance, NanPolicy policy, double floor, Comparison& result)
      : tolerance_(tolerance), policy_(policy), floor_(floor), result_(result) {}

  void element(double got, double want, int64_t index) {
    if (!std::isfinite(got) || !std::isfinite(want)) return special(got, want, index);
    const double error = std::fabs(got - want);
    const double bound = tolerance_.rtol * std::fabs(want) + floor_;
    const double ratio = error == 0 ? 0 : bound > 0 ? error / bound : INFINITY;
    result_.worst_absolute = std::max(result_.worst_absolute, error);
    if (want != 0) result_.worst_relative = std::max(result_.worst_relative, error / std::fabs(want));
    if (ratio > 1) ++result_.failing;
    if (ratio > result_.worst_bound || (result_.worst_index < 0 && ratio > 1)) note(ratio, got, want, index);
    error_squares += error * error;
  }
  double error_squares = 0;

 private:
  void special(double got, double want, int64_t index) {
    if (policy_ == NanPolicy::match && same_special(got, want)) return;
    if (!std::isfinite(got)) result_.not_finite = true;
    ++result_.failing;
    note(INFINITY, got, want, index);
    error_squares = INFINITY;
  }
  void note(double ratio, double got, double want, int64_t index) {
    if (result_.worst_index >= 0 && !(ratio > result_.worst_bound)) return;
    result_.worst_bound = ratio;
    result_.worst_index = index;
    result_.got = got;
    result_.want = want;
  }

  const Tolerance& tolerance_;
  NanPolicy policy_;
  double floor_;
  Comparison& result_;
};

Comparison compare_integers(Dtype dtype, const void* got, const void* want, int64_t count) {
  Comparison result;
  for (int64_t i = 0; i < count; ++i) {
    const double a = load_element(dtype, got, i), b = load_element(dtype, want, i);
    const auto width = static_cast<size_t>(size_of(dtype));
    const auto at = static_cast<size_t>(i) * width;
    const bool equal = dtype == Dtype::boolean ? (a != 0) == (b != 0)
                                               : std::memcmp(static_cast<const char*>(got) + at, static_cast<const char*>(want) + at, width) == 0;
    if (equal) continue;
    ++result.failing;
    result.worst_absolute = std::max(result.worst_absolute, std::fabs(a - b));
    if (result.worst_index < 0) {
      result.worst_index = i, result.got = a, result.want = b;
      result.worst_bound = INFINITY;
    }
  }
  result.passes = result.failing == 0;
  return result;
}

// Elements [begin, end) of floats; returns the sum of the squares of their errors.
double compare_range(Dtype dtype, const void* got, const void* want, int64_t first, int64_t end, const Tolerance& tolerance, NanPolicy policy, double floor,
                     Comparison& result) {
  const Dtype want_dtype = reference_dtype(dtype);
  const bool fast = dtype == Dtype::float32 || dtype == Dtype::bfloat16;
  Walk walk(tolerance, policy, floor, result);
  float widened[kTile];
  for (int64_t begin = first; begin < end; begin += kTile) {
    const int64_t size = std::min(kTile, end - begin);
    if (fast && size % 16 == 0 && floor > 0) {
      const float* got_tile = static_cast<const float*>(got) + begin;
      if (dtype == Dtype::bfloat16) {
        widen_bfloat16(static_cast<const uint16_t*>(got) + begin, widened, size);
        got_tile = widened;
      }
      const TileResult tile = measure_tile(got_tile, static_cast<const float*>(want) + begin, size, static_cast<float>(tolerance.rtol), static_cast<float>(floor));
      // Only a tile that holds a failure, or nearly, is walked element by element.
      if (tile.not_finite == 0 && std::isfinite(tile.error_squares) && tile.worst < 0.99f) {
        result.worst_bound = std::max(result.worst_bound, static_cast<double>(tile.worst));
        result.worst_absolute = std::max(result.worst_absolute, static_cast<double>(tile.absolute));
        walk.error_squares += tile.error_squares;
        continue;
      }
    }
    for (int64_t i = begin; i < begin + size; ++i) walk.element(load_element(dtype, got, i), load_element(want_dtype, want, i), i);
  }
  return walk.error_squares;
}

// Of two neighbouring ranges; the worst element is the first of the worst.
Comparison merge(const Comparison& first, const Comparison& second) {
  Comparison both = first;
  both.not_finite |= second.not_finite;
  both.failing += second.failing;
  both.worst_absolute = std::max(both.worst_absolute, second.worst_absolute);
  both.worst_relative = std::max(both.worst_relative, second.worst_relative);
  both.worst_bound = std::max(both.worst_bound, second.worst_bound);
  if (second.worst_index >= 0 && (first.worst_index < 0 || second.worst_bound > first.worst_bound)) {
    both.worst_index = second.worst_index;
    both.got = second.got;
    both.want = second.want;
  }
  return both;
}

}  // namespace

Magnitude magnitude_of(Dtype dtype, const void* want, int64_t count) {
  if (!is_float(dtype)) return {};
  const Dtype want_dtype = reference_dtype(dtype);
  if (want_dtype == Dtype::float32)
    if (const Magnitude sum = magnitude_of_finite(static_cast<const float*>(want), count); std::isfinite(sum.squares)) return sum;
  Magnitude sum;
  for (int64_t i = 0; i < count; ++i)
    if (const double value = load_element(want_dtype, want, i); std::isfinite(value) && value != 0) sum.squares += value * value, ++sum.elements;
  return sum;
}

Comparison compare(Dtype dtype, const void* got, const void* want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance, NanPolicy policy) {
  if (!is_float(dtype)) return compare_integers(dtype, got, want, count);
  const double rms = magnitude.rms(), want_squares = magnitude.squares;
  Comparison parts[2];
  double squares[2] = {};
  in_halves(count, kTile, 1 << 17, [&](int64_t begin, int64_t end) {
    const int part = begin > 0;
    squares[part] = compare_range(dtype, got, want, begin, end, tolerance, policy, tolerance.atol * rms, parts[part]);
  });
  Comparison result = merge(parts[0], parts[1]);
  const double error_squares = squares[0] + squares[1];
  result.norm = want_squares > 0 ? std::sqrt(error_squares / want_squares) : (error_squares > 0 ? INFINITY : 0);
  result.passes = result.failing == 0 && (tolerance.norm < 0 || result.norm <= tolerance.norm);
  return result;
}

int64_t equal_elements(Dtype dtype, const void* got, const void* other, int64_t count) {
  const auto width = static_cast<size_t>(size_of(dtype));
  const char *a = static_cast<const char*>(got), *b = static_cast<const char*>(other);
  int64_t equal = 0;
  for (int64_t i = 0; i < count; ++i) equal += std::memcmp(a + static_cast<size_t>(i) * width, b + static_cast<size_t>(i) * width, width) == 0;
  return equal;
}

void convert_expected(Dtype dtype, const void* want, int64_t count, void* out) {
  const Dtype from = reference_dtype(dtype);
  if (from == dtype) {
    std::memcpy(out, want, static_cast<size_t>(count * size_of(dtype)));
  } else if (dtype == Dtype::bfloat16) {
    for (int64_t i = 0; i < count; ++i) static_cast<uint16_t*>(out)[i] = bfloat16_from_float(static_cast<const float*>(want)[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) store_element(dtype, out, i, load_element(from, want, i));
  }
}

std::string element_name(const std::string& tensor, const std::vector<int64_t>& shape, int64_t index) {
  std::string text;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const int64_t size = std::max<int64_t>(1, shape[axis]);
    text = std::to_string(index % size) + (text.empty() ? "" : "," + text);
    index /= size;
  }
  return tensor + "[" + text + "]";
}

uint64_t digest(const void* data, uint64_t bytes) {
  // Four independent multiply-and-rotate lanes, so that it runs at the speed of memory.
  uint64_t lanes[4] = {0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, 0x2545f4914f6cdd1d};
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t left = bytes;
  for (; left >= 32; left -= 32, p += 32) {
    uint64_t words[4];
    std::memcpy(words, p, 32);
    for (int i = 0; i < 4; ++i) lanes[i] = std::rotl((lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15, 29);
  }
  for (; left > 0; --left, ++p) lanes[0] = std::rotl((lanes[0] ^ *p) * 0x9e3779b97f4a7c15, 29);
  uint64_t sum = bytes;
  for (uint64_t lane : lanes) sum = std::rotl((sum ^ lane) * 0xbf58476d1ce4e5b9, 31);
  return sum ^ (sum >> 32);
}

}  // namespace whet
