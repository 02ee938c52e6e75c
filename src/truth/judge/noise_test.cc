// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/noise.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whet {
namespace {

// Twelve pairs that scatter by `scatter` around `center`.
std::vector<double> pairs(double center, double scatter) {
  std::vector<double> logs;
  for (int i = 0; i < 12; ++i) logs.push_back(center + scatter * std::sin(2.1 * i));
  return logs;
}

TEST(Noise, WhatFewPairsScatterAnywayIsNone) {
  EXPECT_EQ(noise_between({pairs(0, 0.1), pairs(0.01, 0.1), pairs(-0.01, 0.1)}), kLeastNoise);
  EXPECT_EQ(noise_between({pairs(0, 0), pairs(0, 0)}), kLeastNoise);
  EXPECT_EQ(noise_between({pairs(0, 0), pairs(0, 0)}, kLeastNoiseOfDevice), kLeastNoiseOfDevice);
}

TEST(Noise, CentersThatLieFurtherApartAre) {
  EXPECT_NEAR(noise_between({pairs(0.02, 0.001), pairs(-0.02, 0.001), pairs(0.02, 0.001)}), 0.02, 0.001);
  EXPECT_NEAR(noise_between({pairs(0.03, 0.02), pairs(-0.03, 0.02)}), 0.03, 0.005);
  EXPECT_EQ(noise_between({pairs(0.3, 0.01), pairs(-0.3, 0.01)}), kMostNoise);
}

TEST(Noise, TooFewPairsSayNothing) {
  EXPECT_EQ(noise_between({}), kMostNoise);
  EXPECT_EQ(noise_between({{0, 0, 0, 0, 0}}), kMostNoise);
  EXPECT_NEAR(noise_between({pairs(0.02, 0.001), {0.5, 0.5}}), 0.02, 0.001);
}

TEST(Noise, AnEmptyTurnNeverTakesMoreThanHalf) {
  EXPECT_EQ(net_time(1000, 300), 700);
  EXPECT_EQ(net_time(1000, 900), 500);
}

}  // namespace
}  // namespace whet
