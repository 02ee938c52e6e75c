// SPDX-License-Identifier: Apache-2.0
#include "search/budget.h"

#include <gtest/gtest.h>

#include "base/json_impl.h"

namespace whet {
namespace {

TEST(Budget, HardStopsComeBeforeSoftOnes) {
  const Budget budget{.steps = {.soft = 2}, .wall_seconds = {.soft = 90, .hard = 120}};
  EXPECT_EQ(check(budget, {.steps = 1, .wall_seconds = 89}).stop, Stop::none);
  EXPECT_EQ(check(budget, {.steps = 2}).limit, "steps: 2 of 2 (soft)");
  EXPECT_EQ(check(budget, {.wall_seconds = 90}).limit, "wall_seconds: 90 of 90 (soft)");
  const BudgetState hard = check(budget, {.steps = 3, .wall_seconds = 121});
  EXPECT_EQ(hard.stop, Stop::hard);
  EXPECT_EQ(hard.limit, "wall_seconds: 121 of 120 (hard)");
  EXPECT_EQ(check({.dollars = {.hard = 1}}, {.usage = {.dollars = 1.5}}).limit, "dollars: 1.5 of 1 (hard)");
  EXPECT_EQ(check({.tokens = {.hard = 10}}, {.usage = {.tokens = 10}}).stop, Stop::hard);
  EXPECT_EQ(check({}, {.steps = 1e9}).stop, Stop::none);
}

TEST(Budget, WallLimitLeavesTimeToConfirm) {
  EXPECT_EQ(wall_limit(120), (Limit{90, 120}));
  EXPECT_EQ(wall_limit(1200), (Limit{1160, 1200}));
}

TEST(Budget, RefusesWhatItCannotRead) {
  const auto budget = budget_from_json(Json{{"steps", {{"hard", "many"}}}}, "run r1");
  ASSERT_FALSE(budget);
  EXPECT_NE(budget.error().what.find("run r1: steps.hard: expected"), std::string::npos) << budget.error().what;
}

}  // namespace
}  // namespace whet
