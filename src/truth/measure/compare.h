// SPDX-License-Identifier: Apache-2.0
#pragma once

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

// The sum of the squares of what is finite in `want` (reference_dtype(dtype)); 0 for integers and bool.
double squares_of(Dtype dtype, const void* want, int64_t count);

// `got` has the Definition's dtype, `want` the reference's (reference_dtype), `want_squares` is squares_of(want). Integers and bool compare exactly.
Comparison compare(Dtype dtype, const void* got, const void* want, double want_squares, int64_t count, const Tolerance& tolerance, NanPolicy policy);
inline Comparison compare(Dtype dtype, const void* got, const void* want, int64_t count, const Tolerance& tolerance, NanPolicy policy) {
  return compare(dtype, got, want, squares_of(dtype, want, count), count, tolerance, policy);
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
