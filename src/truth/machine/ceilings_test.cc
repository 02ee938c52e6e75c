// SPDX-License-Identifier: Apache-2.0
#include "truth/machine/ceilings.h"

#include <gtest/gtest.h>

#include "base/json_impl.h"
#include "truth/machine/cpu.h"

namespace whet {
namespace {

TEST(Ceilings, AreMeasuredQuicklyAndPlausible) {
  const auto ceilings = measure_ceilings(allowed_cores());
  EXPECT_GT(ceilings.read_gb_per_s, 0.5);
  EXPECT_LT(ceilings.read_gb_per_s, 5000);
  EXPECT_GT(ceilings.f32_gflop_per_s, 1);
  EXPECT_EQ(ceilings.threads, static_cast<int>(allowed_cores().size()));
  EXPECT_LT(ceilings.seconds, 5);  // far less when nothing else runs
  RecordProperty("ceilings", to_json(ceilings).dump());
}

TEST(Roofline, TakesTheHigherOfMemoryAndArithmetic) {
  const Roofline roofline({.read_gb_per_s = 20, .f32_gflop_per_s = 100});
  EXPECT_DOUBLE_EQ(roofline.floor_ns(3000, 0, Dtype::float32), 100);       // 30 bytes a nanosecond with slack
  EXPECT_DOUBLE_EQ(roofline.floor_ns(3000, 30'000, Dtype::float32), 200);  // 150 operations a nanosecond
  EXPECT_DOUBLE_EQ(roofline.floor_ns(0, 60'000, Dtype::bfloat16), 100);
  EXPECT_EQ(Roofline({}).floor_ns(1e9, 1e9, Dtype::float32), 0) << "unknown ceilings accuse nobody";
  const Roofline tiles({.read_gb_per_s = 20, .f32_gflop_per_s = 100, .has_amx = true});
  EXPECT_LT(tiles.floor_ns(0, 60'000, Dtype::bfloat16), 100);
}

}  // namespace
}  // namespace whet
