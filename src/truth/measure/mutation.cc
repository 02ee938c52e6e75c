// SPDX-License-Identifier: Apache-2.0
#include "truth/measure/mutation.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "truth/measure/number_format.h"

namespace whet {

Tail tail_along(Dtype dtype, const std::vector<int64_t>& shape, size_t axis) {
  int64_t outer = 1, inner = size_of(dtype);
  for (size_t i = 0; i < axis; ++i) outer *= shape[i];
  for (size_t i = axis + 1; i < shape.size(); ++i) inner *= shape[i];
  const int64_t tail = std::min(tail_of(shape[axis]), shape[axis]);
  return {outer, (shape[axis] - tail) * inner, shape[axis] * inner, tail * inner};
}

void zero_tail(Dtype dtype, void* data, const std::vector<int64_t>& shape, size_t axis) {
  const Tail tail = tail_along(dtype, shape, axis);
  auto* bytes = static_cast<uint8_t*>(data);
  for (int64_t i = 0; i < tail.runs; ++i) std::memset(bytes + tail.first + i * tail.stride, 0, static_cast<size_t>(tail.bytes));
}

int kept_mantissa(Dtype dtype) {
  switch (dtype) {
    case Dtype::float64: return 23;
    case Dtype::float32: return 10;
    case Dtype::float16:
    case Dtype::bfloat16: return 4;
    case Dtype::float8_e4m3fn: return 2;
    case Dtype::float8_e5m2: return 1;
    default: return 0;
  }
}

void round_down(Dtype dtype, void* data, int64_t count) {
  const int kept = kept_mantissa(dtype);
  if (kept == 0) return;
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(load_element(dtype, data, i));
    store_element(dtype, data, i, kept == 23 ? value : std::bit_cast<float>(rounded_mantissa(std::bit_cast<uint32_t>(value), kept)));
  }
}

uint64_t element_bits(Dtype dtype, double value) {
  alignas(8) unsigned char raw[8] = {};
  store_element(dtype, raw, 0, value);
  return std::bit_cast<uint64_t>(raw);
}

void fill_with_mean(Dtype dtype, const void* from, int64_t count, void* to) {
  if (count == 0) return;
  std::vector<double> lanes(static_cast<size_t>(kMeanLanes));
  for (int64_t i = 0; i < count; ++i) lanes[static_cast<size_t>(i % kMeanLanes)] += load_element(dtype, from, i);
  for (size_t half = lanes.size() / 2; half > 0; half /= 2)
    for (size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  const uint64_t bits = element_bits(dtype, lanes[0] / static_cast<double>(count));
  repeat(to, static_cast<uint64_t>(count * size_of(dtype)), &bits, static_cast<uint64_t>(size_of(dtype)));
}

void repeat(void* to, uint64_t bytes, const void* from, uint64_t period) {
  auto* out = static_cast<uint8_t*>(to);
  // What stands there already is the pattern of the next, longer piece.
  uint64_t done = std::min(period, bytes);
  std::memcpy(out, from, done);
  for (; done < bytes; done += std::min(done, bytes - done)) std::memcpy(out + done, out, std::min(done, bytes - done));
}

}  // namespace whet
