// SPDX-License-Identifier: Apache-2.0
#include "score/scoreboard.h"

#include <gtest/gtest.h>

#include <cmath>

#include "score/ratio.h"

namespace whet {
namespace {

Trial trial(const std::string& name, const std::string& role, std::vector<double> times) {
  Trial made;
  made.solution = name;
  made.role = role;
  made.verdict = {Code::correct, "", ""};
  for (size_t i = 0; i < times.size(); ++i) made.samples[Column::flushed].push_back({static_cast<int>(i), 0, times[i], ""});
  return made;
}

Evaluation two_workloads() {
  Evaluation evaluation;
  evaluation.workloads.push_back({"a", "d", "f", 0, {trial("mine", "candidate", {10, 10, 10, 10}), trial("slow", "baseline", {40, 40, 40, 40}), trial("fast", "baseline", {20, 20, 20, 20})}});
  evaluation.workloads.push_back({"b", "d", "g", 0, {trial("mine", "candidate", {10, 10, 10, 10}), trial("slow", "baseline", {5, 5, 5, 5}), trial("fast", "baseline", {8, 8, 8, 8})}});
  return evaluation;
}

TEST(Score, IsAgainstTheFastestOfEachWorkload) {
  const Scoreboard board = score(two_workloads(), {"geomean_vs_fastest", 1.0});
  ASSERT_TRUE(board.geomean_vs_fastest);
  EXPECT_NEAR(board.geomean_vs_fastest->value, std::sqrt(2.0 * 0.5), 1e-9);
  EXPECT_NEAR(board.geomean_vs.at("slow").first.value, std::sqrt(4.0 * 0.5), 1e-9);
  EXPECT_EQ(board.at_par, 1);
  EXPECT_EQ(board.workloads.front().workload, "b") << "the worst first";
  EXPECT_NEAR(board.by_family.at("f").geomean_without->value, 0.5, 1e-9);
}

TEST(Score, HasNoGeomeanUnlessAllIsCorrect) {
  Evaluation evaluation = two_workloads();
  evaluation.workloads[1].trials[0].verdict.code = Code::wrong;
  const Scoreboard board = score(evaluation, {"geomean_vs_fastest", 0.1});
  EXPECT_FALSE(board.geomean_vs_fastest);
  EXPECT_FALSE(board.goal_met);
  EXPECT_EQ(board.geomean_correct_only->second, 1);
  EXPECT_NEAR(board.geomean_correct_only->first.value, 2, 1e-9);
}

TEST(Score, TheGoalIsMetByTheLowEnd) {
  Evaluation evaluation = two_workloads();
  evaluation.workloads.pop_back();
  EXPECT_TRUE(score(evaluation, {"geomean_vs_fastest", 1.99}).goal_met);
  evaluation.noise_floor = 0.05;
  EXPECT_FALSE(score(evaluation, {"geomean_vs_fastest", 1.99}).goal_met);
}

TEST(Score, WhatIsOnlyTimedBesideIsNeverTheFastest) {
  Evaluation evaluation = two_workloads();
  evaluation.workloads.pop_back();
  evaluation.workloads[0].trials.push_back(trial("start", "other", {11, 11, 11, 11}));
  const Scoreboard board = score(evaluation, {"geomean_vs_fastest", 1.0});
  EXPECT_NEAR(board.geomean_vs_fastest->value, 2, 1e-9);
  EXPECT_NEAR(board.geomean_vs.at("start").first.value, 1.1, 1e-9);
}

TEST(Score, AnIntervalHoldsTwiceTheNoiseOnEitherSide) {
  const Ratio ratio = ratio_from_log({0.1, 0.07, 0.14}, 0.02);
  EXPECT_NEAR(std::log(ratio.value), 0.1, 1e-12);
  EXPECT_NEAR(std::log(ratio.low), 0.1 - std::hypot(0.03, 0.0392), 1e-12);
  EXPECT_NEAR(std::log(ratio.high), 0.1 + std::hypot(0.04, 0.0392), 1e-12);
  EXPECT_NEAR(ratio_from_log({0.1, 0.07, 0.14}, 0).low, std::exp(0.07), 1e-12);
}

TEST(Score, TheNoiseOfOneWorkloadAveragesOutExceptForWhatIsShared) {
  EXPECT_NEAR(noise_of_geomean(0.002, 26), 0.002, 1e-12);
  EXPECT_NEAR(noise_of_geomean(0.05, 1), 0.05, 1e-12);
  EXPECT_NEAR(noise_of_geomean(0.010, 4), std::hypot(0.006, 0.008 / 2), 1e-12);
  EXPECT_GT(noise_of_geomean(0.05, 1000), kSharedNoise);
}

TEST(PairedLogRatios, UsesOnlyDrawsOfWhichBothSamplesWereUsed) {
  Trial mine = trial("mine", "candidate", {10, 10, 10}), theirs = trial("theirs", "baseline", {20, 30, 40});
  theirs.samples[Column::flushed][1].discarded = "interrupted";
  const auto logs = paired_log_ratios(mine, theirs, Column::flushed);
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_NEAR(logs[1], std::log(4), 1e-12);
}

}  // namespace
}  // namespace whet
