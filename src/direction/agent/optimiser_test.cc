// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/optimiser.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

namespace whet {
namespace {

// A landscape like that of a kernel: a path that decides which other choices matter, tiles with an optimum and an interaction, threads, a trap or two.
struct Synthetic {
  std::vector<Factor> factors = {factor_of("kPath", {"plain", "vectorised", "blocked", "split"}),
                                 factor_of("kTileQ", {"16", "32", "48", "64"}),
                                 factor_of("kTileKv", {"32", "64", "128", "256"}),
                                 factor_of("kThreads", {"1", "2"}),
                                 factor_of("kStaging", {"in_place", "staged"}),
                                 factor_of("kPieces", {"1", "2", "4"})};
  Point start = Point(6, 0);
  std::vector<double> cost;
  double best = 0;

  Synthetic(uint64_t seed, double ruggedness) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<> normal;
    std::uniform_real_distribution<> uniform;
    const double base[] = {2.5, 1.0, uniform(generator) * 0.3, uniform(generator) * 0.4};
    const double best_q = uniform(generator), best_kv = uniform(generator), interaction = normal(generator) * 0.3;
    const double staging = normal(generator) * 0.15, pieces = normal(generator) * 0.1;
    Point p(factors.size());
    std::size_t size = 1;
    for (const Factor& factor : factors) size *= static_cast<std::size_t>(factor.size);
    for (std::size_t i = 0; i < size; ++i) {
      point(i, p);
      const double q = p[1] / 3.0, kv = p[2] / 3.0;
      double c = base[p[0]] + (p[3] == 1 ? 0 : 0.62);
      const double rough = ruggedness * normal(generator);
      if (p[0] == 1) c += 0.1 * kv + 0.3 * rough;
      if (p[0] == 2)
        c += 0.5 * std::pow(q - best_q, 2) + 0.6 * std::pow(kv - best_kv, 2) + interaction * (q - 0.5) * (kv - 0.5) + staging * p[4] * (1 - kv) + rough;
      if (p[0] == 3) c += 0.4 * std::pow(kv - best_kv, 2) + pieces * p[5] * p[3] + rough;
      cost.push_back(c);
    }
    best = std::ranges::min(cost);
  }
  void point(std::size_t i, Point& p) const {
    for (std::size_t f = factors.size(); f-- > 0; i /= static_cast<std::size_t>(factors[f].size))
      p[f] = static_cast<int>(i % static_cast<std::size_t>(factors[f].size));
  }
  double at(const Point& p) const {
    std::size_t i = 0;
    for (std::size_t f = 0; f < p.size(); ++f) i = i * static_cast<std::size_t>(factors[f].size) + static_cast<std::size_t>(p[f]);
    return cost[i];
  }
  bool reached(double c) const { return c <= best + std::log(1.02); }
};

int needed(const Synthetic& land, uint64_t seed, double noise) {
  Optimiser optimiser(land.factors, land.start, seed);
  std::mt19937_64 generator(seed);
  std::normal_distribution<> normal(0, noise);
  int evaluations = 0;
  while (const auto point = optimiser.next()) {
    ++evaluations;
    if (land.reached(land.at(*point))) break;
    optimiser.tell(*point, land.at(*point) + (noise > 0 ? normal(generator) : 0), noise);
  }
  return evaluations;
}

double random_median(const Synthetic& land) {
  const auto within = static_cast<double>(std::ranges::count_if(land.cost, [&](double c) { return land.reached(c); }));
  return std::log(0.5) / std::log(1 - within / static_cast<double>(land.cost.size()));
}

TEST(Optimiser, NeedsFarFewerEvaluationsThanRandomSearchOnKernelLikeLandscapes) {
  for (double ruggedness : {0.01, 0.04})
    for (double noise : {0.0, 0.02}) {
      double share = 0;
      constexpr int kLandscapes = 8;
      for (uint64_t seed = 1; seed <= kLandscapes; ++seed) {
        const Synthetic land(seed, ruggedness);
        std::vector<int> all;
        for (uint64_t run = 0; run < 5; ++run) all.push_back(needed(land, run, noise));
        std::ranges::sort(all);
        share += all[2] / random_median(land) / kLandscapes;
      }
      EXPECT_LE(share, 0.5) << "ruggedness " << ruggedness << ", noise " << noise;
    }
}

TEST(Optimiser, MeasuresEveryPointOnceAndThenSaysSo) {
  const std::vector<Factor> factors = {factor_of("kPath", {"a", "b", "c"}), factor_of("kTile", {"1", "2", "4"}), factor_of("kThreads", {"1", "2"})};
  Optimiser optimiser(factors, {0, 1, 0}, 7);
  std::set<Point> seen;
  while (const auto point = optimiser.next()) {
    ASSERT_TRUE(seen.insert(*point).second);
    optimiser.tell(*point, (*point)[0] - 0.1 * (*point)[1], 0.01);
  }
  EXPECT_EQ(seen.size(), 18u);
  EXPECT_EQ(optimiser.best()->point[0], 0);
  EXPECT_EQ(optimiser.best()->point[1], 2);
}

TEST(Optimiser, BeginsWithTheStartAndEachPath) {
  const Synthetic land(1, 0);
  Optimiser optimiser(land.factors, land.start, 1);
  EXPECT_EQ(*optimiser.next(), land.start);
  std::set<int> paths;
  for (int i = 0; i < 4; ++i) {
    const Point point = *optimiser.next();
    paths.insert(point[0]);
    for (std::size_t f = 1; f < point.size(); ++f) EXPECT_EQ(point[f], land.start[f]);
    optimiser.tell(point, land.at(point), 0);
  }
  EXPECT_EQ(paths.size(), 4u);
}

TEST(Optimiser, DependsOnTheSeedAndOnWhatItWasToldOnly) {
  const Synthetic land(3, 0.02);
  Optimiser first(land.factors, land.start, 5), asked_often(land.factors, land.start, 5);
  for (int i = 0; i < 25; ++i) {
    const Point point = *first.next();
    asked_often.next();
    EXPECT_EQ(*asked_often.next(), point);
    for (Optimiser* optimiser : {&first, &asked_often}) optimiser->tell(point, land.at(point), 0.01);
  }
}

TEST(Optimiser, NeverPrefersWhatFailed) {
  const std::vector<Factor> factors = {factor_of("kPath", {"a", "b"}), factor_of("kTile", {"1", "2", "4", "8"})};
  Optimiser optimiser(factors, {0, 0}, 1);
  while (const auto point = optimiser.next()) {
    if ((*point)[0] == 1)
      optimiser.tell_failed(*point);
    else
      optimiser.tell(*point, 1.0 + (*point)[1], 0.01);
  }
  EXPECT_EQ(optimiser.best()->point, (Point{0, 0}));
  optimiser.tell({1, 0}, -5, 0.01);  // a later figure does not make it right
  EXPECT_EQ(optimiser.best()->point, (Point{0, 0}));
}

// On a plain the model soon promises nothing, and knows nothing either.
TEST(Optimiser, TriesAllNeighboursOfTheBestBeforeItPromisesNothing) {
  const std::vector<Factor> factors = {factor_of("kPath", {"a", "b", "c"}), factor_of("kTileQ", {"32", "64", "128"}), factor_of("kStrip", {"32", "64"}),
                                       factor_of("kTileKv", {"64", "96", "128"}), factor_of("kThreads", {"1", "2"}), factor_of("kStaging", {"x", "y"})};
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Optimiser optimiser(factors, {1, 0, 0, 0, 0, 0}, seed);
    int measured = 0;
    for (auto point = optimiser.next(); optimiser.promise() >= Optimiser::kNoPromise; point = optimiser.next(), ++measured) {
      ASSERT_LT(measured, 100);
      optimiser.tell(*point, 0, 0.003);
    }
    for (std::size_t f = 0; f < factors.size(); ++f)
      for (int value = 0; value < factors[f].size; ++value) {
        Point near = optimiser.best()->point;
        near[f] = value;
        EXPECT_TRUE(optimiser.told(near)) << factors[f].name << " " << value << ", seed " << seed << ", after " << measured;
      }
  }
}

TEST(Optimiser, AllFailedHasNoBest) {
  Optimiser optimiser({factor_of("kTile", {"1", "2"})}, {0}, 1);
  while (const auto point = optimiser.next()) optimiser.tell_failed(*point);
  EXPECT_FALSE(optimiser.best());
}

TEST(Factor, KnowsWhatHasAnOrder) {
  const std::vector<double> tiles = factor_of("kTile", {"16", "32", "64"}).levels;
  ASSERT_EQ(tiles.size(), 3u);
  EXPECT_NEAR(tiles[1], 0.5, 1e-12);
  EXPECT_EQ(tiles[2], 1);
  EXPECT_TRUE(factor_of("kStaging", {"Staging::in_place", "Staging::staged"}).levels.empty());
  EXPECT_TRUE(factor_of("kMode", {"0", "1", "2"}).levels.empty());
  EXPECT_EQ(factor_of("kPrefetch", {"0", "16", "32"}).levels, (std::vector<double>{0, 0.5, 1}));
  EXPECT_EQ(factor_of("kDecodePath", {"0", "1"}).importance, 2);
  EXPECT_EQ(factor_of("kThreads", {"1", "2"}).importance, 1);
}

}  // namespace
}  // namespace whet
