// SPDX-License-Identifier: Apache-2.0
#include "stats/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace whet {
namespace {

TEST(Summary, MedianAndMidmean) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(midmean(std::vector<double>{1, 2, 3, 100}), 2.5);
  EXPECT_NEAR(midmean(std::vector<double>{0, 1, 2}), 1, 1e-12);  // the ends weigh a quarter each
  EXPECT_TRUE(std::isnan(median({})) && std::isnan(midmean({})));
}

TEST(Summary, RobustDeviationIsThatOfANormalAndIgnoresOutliers) {
  EXPECT_NEAR(robust_deviation(std::vector<double>{-1, 0, 1, 0, -1, 1, 1e9}), 1.4826, 1e-9);
}

TEST(Bootstrap, IsReproducibleAndHoldsTheValue) {
  Resampler random(7);
  std::vector<double> values;
  for (int i = 0; i < 40; ++i) values.push_back(static_cast<double>(random.below(1000)) / 1000);
  const Interval first = bootstrap_midmean(values, 1), second = bootstrap_midmean(values, 1);
  EXPECT_EQ(first.low, second.low);
  EXPECT_LE(first.low, first.value);
  EXPECT_GE(first.high, first.value);
  EXPECT_LT(first.high - first.low, 0.5);
}

// 95 % of the intervals of a known mean should hold it; a percentile bootstrap of 20 samples holds it a little less often.
TEST(Bootstrap, CoversTheTruth) {
  Resampler random(11);
  int covered = 0;
  for (int run = 0; run < 300; ++run) {
    std::vector<double> values;
    for (int i = 0; i < 20; ++i) {
      double sum = -6;
      for (int k = 0; k < 12; ++k) sum += static_cast<double>(random.below(1 << 20)) / (1 << 20);
      values.push_back(sum);
    }
    const Interval interval = bootstrap_midmean(values, static_cast<uint64_t>(run), 300);
    covered += interval.low <= 0 && interval.high >= 0;
  }
  EXPECT_GE(covered, 255);
  EXPECT_LE(covered, 299);
}

TEST(Bootstrap, WeighsEveryGroupAlike) {
  const std::vector<std::vector<double>> groups = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 1}};
  EXPECT_NEAR(bootstrap_mean_of_midmeans(groups, 1).value, 0.5, 1e-12);
}

}  // namespace
}  // namespace whet
