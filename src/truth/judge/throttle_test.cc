// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/throttle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whet {
namespace {

using ::testing::HasSubstr;

TEST(Clocks, OfOneDrawMustBeAlike) {
  EXPECT_EQ(clocks_apart({1980, 1950}, {}), "");
  EXPECT_EQ(clocks_apart({1450, 1420}, {}), "") << "both under the same load";
  EXPECT_EQ(clocks_apart({1980, 1500}, {}), "clocks of 1500 and 1980 MHz in one draw");
}

TEST(Clocks, FarBelowThoseBeforeAreNoMatchForThem) {
  const std::vector<double> before(8, 1980.0);
  EXPECT_EQ(clocks_apart({1900, 1890}, before), "");
  EXPECT_THAT(clocks_apart({1400, 1410}, before), HasSubstr("1980 MHz in the calls before"));
  EXPECT_EQ(clocks_apart({1400, 1410}, {1980, 1980}), "") << "two calls are no usual clock";
  EXPECT_EQ(clocks_apart({1980, 1980}, std::vector<double>(8, 1400.0)), "") << "a clock that rises again is fine";
}

TEST(Clocks, ThatNobodyKnowsSayNothing) {
  EXPECT_EQ(clocks_apart({}, {}), "");
  EXPECT_EQ(clocks_apart({0, 1980}, {}), "");
}

}  // namespace
}  // namespace whet
