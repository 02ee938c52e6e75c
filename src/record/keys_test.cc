// SPDX-License-Identifier: Apache-2.0
#include "record/keys.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

TEST(Suggestion, NamesTheNearestWordOrAllOfThem) {
  const std::vector<std::string> known = {"name", "goal", "baselines"};
  EXPECT_EQ(suggestion("gaol", known), "; did you mean \"goal\"?");
  EXPECT_EQ(suggestion("baseline", known), "; did you mean \"baselines\"?");
  EXPECT_EQ(suggestion("zzzzzz", known), "; known: name, goal, baselines");
  EXPECT_EQ(suggestion(std::string(100000, 'x'), known), "; known: name, goal, baselines");
  EXPECT_EQ(suggestion("x", {}), "; none is known here");
}

TEST(Names, AreSafeInFilesAndCommands) {
  for (const char* good : {"a", "attention_f32", "prefill-f32.hd64+x=1", "1a"})
    EXPECT_TRUE(is_plain_name(good)) << good;
  for (const char* bad : {"", "-a", ".a", "a b", "a/b", "a\n", "\xc3\xa4"}) EXPECT_FALSE(is_plain_name(bad)) << bad;
  EXPECT_FALSE(is_plain_name(std::string(121, 'a')));
  EXPECT_TRUE(is_identifier("_a1"));
  for (const char* bad : {"", "1a", "a-b", "a b"}) EXPECT_FALSE(is_identifier(bad)) << bad;
}

TEST(Utf8, RefusesWhatIsNone) {
  for (const char* good : {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const char* bad :
       {"\xff", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"})
    EXPECT_FALSE(is_utf8(bad));
}

}  // namespace
}  // namespace whet
