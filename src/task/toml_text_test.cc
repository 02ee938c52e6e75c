// SPDX-License-Identifier: Apache-2.0
#include "task/toml_text.h"

#include <gtest/gtest.h>

#include "task/task_toml.h"

namespace whet {
namespace {

TEST(TomlTrap, FindsCharactersOutsideOfStringsAndComments) {
  for (const char* good : {"", "a = \"\xc3\xa4\" # \xc3\xa4\n", "a = '\xc3\xa4'", "a = \"\\\"\xc3\xa4\"",
                           "a = \"\"\"\xc3\xa4\n\"x\" \xc3\xa4\"\"\"\"\"", "a = '''\\\xc3\xa4'''", "\xef\xbb\xbf a = 1",
                           "a = \"\" # \xc3\xa4", "a = '\\' # \xc3\xa4", "a = \"\"\"\\u00e4\xc3\xa4\"\"\""})
    EXPECT_FALSE(toml_trap(good)) << good;
  EXPECT_EQ(toml_trap("\xc3\xa4")->offset, 0u);
  EXPECT_EQ(toml_trap("a = 1 \xc3\xa4")->offset, 6u);
  EXPECT_EQ(toml_trap("a = \"\"\xc3\xa4")->offset, 6u);
  EXPECT_EQ(toml_trap("a = \"x\"\xc3\xa4")->offset, 7u);
  EXPECT_EQ(toml_trap("a = \"\"\"\"\"\"\xc3\xa4")->offset, 10u);
  EXPECT_EQ(toml_trap("a = \"\"\"x\\  \n \xc3\xa4\"\"\"")->offset, 13u);
  EXPECT_EQ(toml_trap("a = \"\"\"x\\\xc3\xa4\"\"\"")->offset, 9u);
}

// Found by fuzz_task: toml++ has undefined behaviour on these.
TEST(TomlTrap, IsAComplaintBeforeTheParserSeesIt) {
  for (const char* text : {"\xc9\xa2", "name = \"x\" \xc9\xa2", "\xc9\xa2 = 1", "name = \"\"\"x\\ \xc9\xa2\"\"\""}) {
    std::vector<std::string> complaints;
    task_toml_from_text(text, "task.toml", complaints);
    ASSERT_EQ(complaints.size(), 1u);
    EXPECT_NE(complaints[0].find("task.toml:1: not TOML at column "), std::string::npos) << complaints[0];
  }
  std::vector<std::string> complaints;
  task_toml_from_text("# a\nname = \"\xc3\xa4\" \xc9\xa2\n", "task.toml", complaints);
  EXPECT_EQ(complaints.at(0),
            "task.toml:2: not TOML at column 13: a character beyond ASCII outside of a string or comment");
}

// Found by fuzz_task: toml++ asserts that these do not happen.
TEST(TomlTrap, WhatTheParserTakesForGrantedIsAComplaint) {
  for (const char* text : {"a = [\"x\",}\"y\"]", "a = [1,}2]", "a = [}", "a = [[1,}]]", "a = {b = ]}", "a = {b = }", "a = [1,\n}\n]", "a = ]", "a = ,", "a = }"}) {
    std::vector<std::string> complaints;
    task_toml_from_text(text, "task.toml", complaints);
    ASSERT_FALSE(complaints.empty()) << text;
    EXPECT_EQ(complaints[0].find("task.toml:"), 0u) << complaints[0];
    EXPECT_NE(complaints[0].find("not TOML"), std::string::npos) << complaints[0];
  }
  std::vector<std::string> complaints;
  task_toml_from_text("a = [1,}2]", "task.toml", complaints);
  EXPECT_NE(complaints.at(0).find("a bracket, brace or value is where none can be"), std::string::npos) << complaints[0];
}

// Found by fuzz_task: its tables of characters do not expect a combining accent where a value ends.
TEST(TomlTrap, LettersBeyondAsciiBehindABareValueAreAComplaint) {
  for (const char* text : {"a = [7b\"\xcd\x96", "a = 1\xc3\xa9\n", "a = [7tsl\"\xcd\x96\n"}) {
    std::vector<std::string> complaints;
    task_toml_from_text(text, "task.toml", complaints);
    ASSERT_FALSE(complaints.empty()) << text;
    EXPECT_NE(complaints[0].find("not TOML"), std::string::npos) << complaints[0];
  }
}

TEST(TomlTrap, BoundsTheDepthOfKeys) {
  std::string deep = "a";
  for (int i = 0; i < 15; ++i) deep += ".a";
  EXPECT_FALSE(toml_trap(deep + " = 1"));
  EXPECT_EQ(toml_trap("[" + deep + ".a]")->why, "a key of more than 16 parts");
  EXPECT_FALSE(toml_trap("a = [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]"));
  std::vector<std::string> complaints;
  for (int i = 0; i < 1000000; ++i) deep += ".a";
  task_toml_from_text(deep + " = 1", "task.toml", complaints);
  EXPECT_EQ(complaints.at(0), "task.toml:1: not TOML at column 32: a key of more than 16 parts");
}

}  // namespace
}  // namespace whet
