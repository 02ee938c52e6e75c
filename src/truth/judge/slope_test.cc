// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/slope.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

// Claimed, host, slope; nanoseconds.
TEST(Believe, AllowsTwoMicrosecondsOrFivePercentAndALaunch) {
  EXPECT_EQ(believe(10e3, 3e3, 13.4e3), Belief::agrees);
  EXPECT_EQ(believe(10e3, 3e3, 13.6e3), Belief::refuted);
  EXPECT_EQ(believe(1000e3, 3e3, 1051e3), Belief::agrees);
  EXPECT_EQ(believe(1000e3, 3e3, 1052e3), Belief::refuted);
}

TEST(Believe, AShorterSlopeIsNoReasonToDoubt) { EXPECT_EQ(believe(10e3, 3e3, 2e3), Belief::agrees); }

TEST(Believe, WhatTheHostTookExplainsALongerSlope) {
  EXPECT_EQ(believe(10e3, 25e3, 26e3), Belief::host_bound);
  EXPECT_EQ(believe(10e3, 25e3, 31e3), Belief::refuted);
}

// And a cold slope, of which a part may be a matter of subtraction.
TEST(Believe, AColdSlopeCountsWhereCallsWouldFindTheCacheWarm) {
  EXPECT_EQ(believe(30e3, 3e3, 26e3, 52e3), Belief::refuted) << "half of the time lies in a cold cache";
  EXPECT_EQ(believe(52e3, 3e3, 26e3, 57e3), Belief::agrees);
  EXPECT_EQ(believe(10e3, 3e3, 8e3, 15.4e3), Belief::agrees);
  EXPECT_EQ(believe(10e3, 3e3, 8e3, 15.6e3), Belief::refuted);
  EXPECT_EQ(believe(10e3, 3e3, 8e3, -1), Belief::agrees) << "not needed";
}

}  // namespace
}  // namespace whet
