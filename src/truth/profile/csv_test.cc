// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whet {
namespace {

using ::testing::ElementsAre;

TEST(Csv, PlainAndQuotedCells) {
  EXPECT_THAT(parse_csv("a,b\n\"1,024\",\"(32, 2, 1)\"\n"), ElementsAre(ElementsAre("a", "b"), ElementsAre("1,024", "(32, 2, 1)")));
}

TEST(Csv, DoubledQuotesAndLineFeedsInside) {
  EXPECT_THAT(parse_csv("\"say \"\"hi\"\"\",\"two\nlines\""), ElementsAre(ElementsAre("say \"hi\"", "two\nlines")));
}

TEST(Csv, EmptyCellsAreKeptAndEmptyLinesAreNot) { EXPECT_THAT(parse_csv(",\"\",x\r\n\r\n\ny,\n"), ElementsAre(ElementsAre("", "", "x"), ElementsAre("y", ""))); }

TEST(Csv, AnUnclosedQuoteReachesToTheEnd) { EXPECT_THAT(parse_csv("a,\"b\nc"), ElementsAre(ElementsAre("a", "b\nc"))); }

TEST(Csv, NothingHasNoRows) { EXPECT_TRUE(parse_csv("").empty()); }

}  // namespace
}  // namespace whet
