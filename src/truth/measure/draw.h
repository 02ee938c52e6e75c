// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/definition.h"
#include "record/workload.h"

namespace whet {

// The key of one tensor's contents in one draw. Derived by SHA-256 from the Evaluation's secret, so that contents seen in one draw say
// nothing about another.
struct DrawKey {
  std::array<uint32_t, 4> words{};
};
DrawKey derive_key(const std::string& secret, const std::string& workload, int draw, const std::string& tensor);

// One set of input contents. A twin differs from its parent in one stretch of one input: whoever recognises inputs by a sample of them,
// by their address or by their shape answers the parent instead.
struct Draw {
  int number = 0;
  int parent = -1;            // the draw of which this one is a twin; -1 = none
  std::string twin_input;     // the input with the stretch
  int64_t twin_begin = 0, twin_end = 0;  // elements
};

// Everything that is needed to write one input's elements [0, count).
class InputGenerator {
 public:
  // Fails when the recipe does not fit the input (checked when the task was read, so only for safetensors that are not there).
  static Expected<InputGenerator> make(const Definition& definition, const Workload& workload, const std::string& input);

  int64_t count() const { return count_; }
  // Writes elements [begin, end) to `data` (the tensor's first element). Same bits for the same key on every machine.
  void write(const DrawKey& key, int64_t begin, int64_t end, void* data) const;
  // Whether a stretch can be redrawn alone (element-wise recipes).
  bool separable() const;

  // What another generator of the same bits (truth/gpu) needs to know.
  const Recipe& recipe() const { return recipe_; }
  Dtype dtype() const { return dtype_; }
  int64_t row() const { return row_; }      // elements of the last axis
  int64_t bound() const { return bound_; }  // of index_below
  const std::vector<uint32_t>& table() const { return table_; }

 private:
  void write_normal(const DrawKey& key, int64_t begin, int64_t end, void* data) const;
  void write_slowly(const DrawKey& key, int64_t begin, int64_t end, void* data) const;

  Recipe recipe_;
  Dtype dtype_ = Dtype::float32;
  int64_t count_ = 0, row_ = 1;
  int64_t bound_ = 0;                  // index_below
  std::vector<int64_t> summed_;        // cumsum_of: the lengths
  std::vector<uint32_t> table_;        // normal: quantiles in the tensor's format, kQuantiles of them, widened to 32 bits
};

// 2^12 equally likely values of a standard normal, symmetric: quantile((i + 1/2) / 2^12). The largest is 3.67.
constexpr int kQuantileBits = 12;
const std::array<float, 1 << kQuantileBits>& normal_quantiles();

// Counter-based generator: 32 bits for a key and a counter; integer operations only.
inline uint32_t random_bits(const DrawKey& key, uint32_t counter_low, uint32_t counter_high) {
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

}  // namespace whet
