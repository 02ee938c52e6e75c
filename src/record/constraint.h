// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace whet {

// What a constraint says about some axis values.
struct ConstraintResult {
  enum class Kind {
    holds,
    violated,
    note,       // beyond our subset (an attribute, a subscript, a call, a name that is no axis): kept as text
    malformed,  // no expression
    no_value,   // a division by zero, an overflow
  };
  Kind kind = Kind::note;
  std::string why;  // for malformed and no_value
};

// Evaluates a Definition's constraint, a Python expression over axes: integers and numbers, + - * / // % **, unary + and -, comparisons (chained
// ones too), and, or, not, parentheses, True, False.
ConstraintResult evaluate_constraint(const std::string& text, const std::map<std::string, int64_t>& axes);

// What such an expression is as an integer ("batch * pages + 1"). A fraction is no_value.
struct IntegerResult {
  enum class Kind { value, note, malformed, no_value };  // as in ConstraintResult
  Kind kind = Kind::note;
  int64_t value = 0;
  std::string why;  // for malformed and no_value
};
IntegerResult evaluate_integer(const std::string& text, const std::map<std::string, int64_t>& axes);

}  // namespace whet
