// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/choices.h"

#include <gmock/gmock.h>

namespace whet {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSource =
    "// A comment that says whet:tune declares nothing.\r\n"
    "inline constexpr Path kPath = Path::plain;   // whet:tune {Path::plain, Path::blocked} family=decode\r\n"
    "\tinline  constexpr int kTile=32;// whet:tune {16,32 , 64}  family=decode  \n"
    "inline constexpr double kShare = 0.5;  // whet:tune {0.25, 0.5} family=prefill";

TEST(Choices, ReadsWhatIsDeclared) {
  const auto choices = parse_choices(kSource, "choices.h");
  ASSERT_TRUE(choices) << choices.error().what;
  ASSERT_EQ(choices->size(), 3u);
  EXPECT_EQ((*choices)[0], (Choice{"choices.h", 2, "kPath", "Path::plain", {"Path::plain", "Path::blocked"}, "decode"}));
  EXPECT_EQ((*choices)[1], (Choice{"choices.h", 3, "kTile", "32", {"16", "32", "64"}, "decode"}));
  EXPECT_EQ((*choices)[2], (Choice{"choices.h", 4, "kShare", "0.5", {"0.25", "0.5"}, "prefill"}));
}

TEST(Choices, RewritesValuesAndNoOtherByte) {
  const auto text = rewrite_choices(kSource, "choices.h", {{"kPath", "Path::blocked"}, {"kShare", "0.25"}, {"kElsewhere", "1"}});
  ASSERT_TRUE(text) << text.error().what;
  std::string expected = kSource;
  expected.replace(expected.find("Path::plain;"), 12, "Path::blocked;");
  expected.replace(expected.find("0.5;"), 4, "0.25;");
  EXPECT_EQ(*text, expected);
  EXPECT_EQ(*rewrite_choices(kSource, "choices.h", {}), kSource);
}

struct Malformed {
  const char* line;
  const char* complaint;
};
class MalformedChoice : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedChoice, IsNamedWithFileAndLine) {
  const auto choices = parse_choices(std::string("\n") + GetParam().line + "\n", "a/choices.h");
  ASSERT_FALSE(choices);
  EXPECT_EQ(choices.error().blame, Blame::input);
  EXPECT_THAT(choices.error().what, HasSubstr("a/choices.h:2: "));
  EXPECT_THAT(choices.error().what, HasSubstr(GetParam().complaint));
}

INSTANTIATE_TEST_SUITE_P(
    Each, MalformedChoice,
    ::testing::Values(
        Malformed{"constexpr int kA = 1;  // whet:tune {1} family=f", "expected 'inline' in column 1, found 'constexpr int kA"},
        Malformed{"inline int kA = 1;  // whet:tune {1} family=f", "expected 'constexpr'"},
        Malformed{"inline constexpr int = 1;  // whet:tune {1} family=f", "expected a name in column 22"},
        Malformed{"inline constexpr unsigned int kA = 1;  // whet:tune {1} family=f", "expected '='"},
        Malformed{"inline constexpr int kA = ;  // whet:tune {1} family=f", "expected a value without spaces"},
        Malformed{"inline constexpr int kA = 1 + 1;  // whet:tune {2} family=f", "expected ';'"},
        Malformed{"inline constexpr int kA = 1;  /* whet:tune {1} family=f */", "expected '//'"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune 1, 2 family=f", "expected '{'"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {} family=f", "expected at least one value"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {1,} family=f", "expected a value"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {1 2} family=f", "expected ',' or '}'"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {1", "expected ',' or '}' in column 46, found the end of the line"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {1}", "expected 'family='"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {1} family=", "expected the name of a workload family"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {1} family=f g", "expected the end of the line"},
        Malformed{"inline constexpr int kA = 3;  // whet:tune {1, 2} family=f", "kA: expected one of {1, 2}, found 3"},
        Malformed{"inline constexpr int kA = 1;  // whet:tune {1, 2, 1} family=f", "kA: the value 1 is listed twice"}));

TEST(Choices, RefusesANameTwice) {
  const char* line = "inline constexpr int kA = 1;  // whet:tune {1} family=f\n";
  const auto same_file = parse_choices(std::string(line) + line, "choices.h");
  ASSERT_FALSE(same_file);
  EXPECT_EQ(same_file.error().what, "choices.h:2: the choice kA is already declared in choices.h:1; give it another name");
  const auto two_files = parse_choices(std::map<std::string, std::string>{{"a.h", line}, {"b.h", line}});
  ASSERT_FALSE(two_files);
  EXPECT_EQ(two_files.error().what, "b.h:1: the choice kA is already declared in a.h:1; give it another name");
}

TEST(Choices, RefusesNewValuesThatAreNotDeclared) {
  const auto value = rewrite_choices(kSource, "choices.h", {{"kTile", "48"}});
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().what, "choices.h:3: kTile: expected one of {16, 32, 64}, found 48");
  const auto name = rewrite_choices(std::map<std::string, std::string>{{"choices.h", kSource}}, {{"kNone", "1"}});
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().what, "no file declares the choice kNone");
}

}  // namespace
}  // namespace whet
