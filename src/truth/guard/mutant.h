// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/definition.h"
#include "record/workload.h"

namespace whet {

// Wrong answers that a workload must be able to tell from right ones. Two kinds: those made from right outputs, and those that are right for
// altered inputs (an input ignored, its tail ignored, a lower precision).
struct AlteredInput {
  std::string mutant;   // "ignores k", "ignores the tail of k along kv_len", "lower precision"
  std::vector<size_t> tensors;                 // the tensor inputs that are altered, by index among the tensors
  enum class How { redraw, zero_tail, round, change_scalar } how = How::redraw;
  size_t axis = 0;      // zero_tail: which dimension
  std::string scalar;   // change_scalar
  std::string group;    // "ignores k": one finding per input and family suffices for groups of scalars
};

std::vector<AlteredInput> altered_inputs(const Definition& definition, const Workload& workload);

// Zeroes the last sixteenth (at least one index) of `data` along dimension `axis`.
void zero_tail(Dtype dtype, void* data, const std::vector<int64_t>& shape, size_t axis);
// Rounds every element to the next lower precision: float32 to 10 mantissa bits, float16 and bfloat16 to 4, 8-bit floats to 1 fewer bit. Integers stay.
void round_down(Dtype dtype, void* data, int64_t count);
// A scalar that differs from this one: a flipped bool, a float times 1.25, an integer halved (0 becomes 1).
InputSource changed_scalar(const InputSource& source);

// Wrong outputs that can be made from a right one and an unrelated right one, in the Definition's dtype.
struct WrongOutput {
  std::string mutant;   // "zeros", "mean", "stale", "skips the tail"
  std::vector<uint8_t> bytes;
};
std::vector<WrongOutput> wrong_outputs(Dtype dtype, const std::vector<uint8_t>& right, const std::vector<uint8_t>& unrelated, int64_t count);
// The input's bytes repeated to the output's size: "passes q through". Empty when dtypes differ or the input is empty.
std::vector<uint8_t> passed_through(Dtype input_dtype, const void* input, int64_t input_count, Dtype output_dtype, int64_t output_count);

}  // namespace whet
