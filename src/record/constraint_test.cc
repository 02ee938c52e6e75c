// SPDX-License-Identifier: Apache-2.0
#include "record/constraint.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace whet {
namespace {

std::string outcome(const std::string& text) {
  const ConstraintResult result = evaluate_constraint(text, {{"a", 7}, {"b", 2}, {"zero", 0}});
  switch (result.kind) {
    case ConstraintResult::Kind::holds:
      return "holds";
    case ConstraintResult::Kind::violated:
      return "violated";
    case ConstraintResult::Kind::note:
      return "note";
    case ConstraintResult::Kind::malformed:
      return "malformed: " + result.why;
    case ConstraintResult::Kind::no_value:
      return "no value: " + result.why;
  }
  return "";
}

TEST(Constraint, CountsAsPythonDoes) {
  for (const char* text :
       {"a == 7", "a // b == 3", "-a // b == -4", "-a % b == 1", "a % -b == -1", "a / b == 3.5", "2 ** 3 ** 2 == 512",
        "-2 ** 2 == -4", "2 ** -1 == 0.5", "1 < b <= 2 < a", "not a == 8", "a == 8 or b == 2", "a and not zero",
        "(a + 1) % (b * 4) == 0", "True != False", "a - -b == 9"})
    EXPECT_EQ(outcome(text), "holds") << text;
  for (const char* text : {"a == 8", "1 < b < 2", "a and zero", "a % b == 0", "not a"})
    EXPECT_EQ(outcome(text), "violated") << text;
}

TEST(Constraint, DividesByZeroOnlyWhereItMatters) {
  EXPECT_EQ(outcome("zero == 0 or a % zero == 0"), "holds");
  EXPECT_EQ(outcome("zero != 0 and a % zero == 0"), "violated");
  EXPECT_EQ(outcome("a % zero == 0"), "no value: a division by zero");
  EXPECT_EQ(outcome("9 ** 99 > 1"), "no value: a value does not fit into 64 bits");
  EXPECT_EQ(outcome("9223372036854775807 + a > 1"), "no value: a value does not fit into 64 bits");
}

TEST(Constraint, IsAlsoAnInteger) {
  using Kind = IntegerResult::Kind;
  const std::map<std::string, int64_t> axes = {{"a", 7}, {"b", 2}};
  EXPECT_EQ(evaluate_integer("a * b + 1", axes).value, 15);
  EXPECT_EQ(evaluate_integer("a // b", axes).value, 3);
  EXPECT_EQ(evaluate_integer("a // b", axes).kind, Kind::value);
  EXPECT_EQ(evaluate_integer("a / b", axes).why, "a value that is no integer");
  EXPECT_EQ(evaluate_integer("a // 0", axes).kind, Kind::no_value);
  EXPECT_EQ(evaluate_integer("c + 1", axes).kind, Kind::note);
  EXPECT_EQ(evaluate_integer("a +", axes).kind, Kind::malformed);
}

TEST(Constraint, LeavesTheRestAsANote) {
  for (const char* text :
       {"len(x) == a", "x.shape[0] == a", "a in (1, 2)", "q == a", "a if b else a", "a == 0x10", "'x' == a", "a & b"})
    EXPECT_EQ(outcome(text), "note") << text;
}

TEST(Constraint, SaysWhatIsNoExpression) {
  EXPECT_EQ(outcome("a %"), "malformed: it ends where a value is expected");
  EXPECT_EQ(outcome("a % % b"), "malformed: unexpected \"%\"");
  EXPECT_EQ(outcome("a = b"), "malformed: unexpected character \"=\"");
  EXPECT_EQ(outcome("(a"), "malformed: a \")\" is missing");
  EXPECT_EQ(outcome("a b"), "malformed: unexpected \"b\"");
  EXPECT_EQ(outcome(""), "malformed: it ends where a value is expected");
  for (const auto& [count, letter] : {std::pair(200, '('), std::pair(100000, '-')}) {
    std::string deep(static_cast<size_t>(count), letter);
    deep.push_back('a');
    EXPECT_EQ(outcome(deep), "malformed: nested deeper than 60 levels");
  }
}

}  // namespace
}  // namespace whet
