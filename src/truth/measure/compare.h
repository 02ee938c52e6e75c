// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "record/definition.h"
#include "record/evaluation.h"
#include "record/workload.h"

namespace whet {

// What one output looks like against the expected one.
struct Comparison {
  bool passes = true;
  bool not_finite = false;       // NaN or infinity where the policy does not allow it
  double worst_bound = 0;        // as in Accuracy
  double worst_absolute = 0, worst_relative = 0;
  double norm = 0;               // ||got - want|| / ||want||
  int64_t worst_index = -1;      // of the worst element, if one fails
  double got = 0, want = 0;      // there
  int64_t failing = 0;           // elements outside the bound
};

// How large the elements of a `want` are that are finite and not exactly zero. Rows that must be zero say nothing of what the others may be off by: with
// them in the mean, a workload of which most rows see nothing would have a bound that no honest Solution keeps.
struct Magnitude {
  double squares = 0;    // the sum of theirs
  int64_t elements = 0;  // how many
  double rms() const { return elements > 0 ? std::sqrt(squares / static_cast<double>(elements)) : 0; }
};
// Of `want` (reference_dtype(dtype)); nothing for integers and bool.
Magnitude magnitude_of(Dtype dtype, const void* want, int64_t count);

// `got` has the Definition's dtype, `want` the reference's (reference_dtype), `magnitude` is magnitude_of(want). Integers and bool compare exactly, and
// so does a `want` of zeros only: its rms is 0.
Comparison compare(Dtype dtype, const void* got, const void* want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance, NanPolicy policy);
inline Comparison compare(Dtype dtype, const void* got, const void* want, int64_t count, const Tolerance& tolerance, NanPolicy policy) {
  return compare(dtype, got, want, magnitude_of(dtype, want, count), count, tolerance, policy);
}

// How many of `count` elements of `got` are bitwise equal to `other` (same dtype).
int64_t equal_elements(Dtype dtype, const void* got, const void* other, int64_t count);

// Writes `want` (reference_dtype(dtype)) in the Definition's dtype: what a right answer looks like in the output buffer.
void convert_expected(Dtype dtype, const void* want, int64_t count, void* out);

// "o[0,3,17,5]" for an element of a tensor of this shape.
std::string element_name(const std::string& tensor, const std::vector<int64_t>& shape, int64_t index);

// A fast 64-bit digest of a buffer; not for adversaries who can choose both sides.
uint64_t digest(const void* data, uint64_t bytes);

}  // namespace whet
