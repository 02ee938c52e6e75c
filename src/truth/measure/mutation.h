// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "record/dtype.h"
#include "truth/measure/mutation_arithmetic.h"

namespace whet {

// Wrong contents made from right ones. Which of them a workload has to tell from right ones is truth/guard/mutant.h's matter.

// Zeroes the last sixteenth (at least one index) of `data` along dimension `axis`.
void zero_tail(Dtype dtype, void* data, const std::vector<int64_t>& shape, size_t axis);

// Where that tail lies, in bytes: `runs` stretches of `bytes` each, `stride` apart, the first at `first`.
struct Tail {
  int64_t runs, first, stride, bytes;
};
Tail tail_along(Dtype dtype, const std::vector<int64_t>& shape, size_t axis);

// Rounds every element to the next lower precision: float64 to float32, float32 to 10 mantissa bits, float16 and bfloat16 to 4, 8-bit floats to 1
// fewer bit. All else stays.
void round_down(Dtype dtype, void* data, int64_t count);
// Mantissa bits that round_down() keeps: 23 for float64, 0 for what stays as it is.
int kept_mantissa(Dtype dtype);

// What stands in each element of a mean: the bits of a whole element, in the low bytes.
uint64_t element_bits(Dtype dtype, double value);
// Writes the mean of `from` into every element of `to`.
void fill_with_mean(Dtype dtype, const void* from, int64_t count, void* to);

// Fills `to` with the `period` > 0 bytes at `from`, over and over.
void repeat(void* to, uint64_t bytes, const void* from, uint64_t period);

}  // namespace whet
