// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/gpu_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_impl.h"

namespace whet {
namespace {

using testing::ElementsAre;

TEST(GpuState, NamesWhatSlowsTheClocks) {
  EXPECT_THAT(reasons_named(0x4 | 0x20), ElementsAre("power cap", "heat (software)"));
  EXPECT_EQ(throttling(0x80 | 0x1), 0x80u);
  EXPECT_EQ(throttling(0x8 | 0x20 | 0x40), 0x8u | 0x20u | 0x40u);
  EXPECT_EQ(throttling(0x1 | 0x2 | 0x100), 0u) << "an idle GPU, or one with a chosen clock, is not throttled";
  EXPECT_EQ(throttling(0x4), 0u) << "the power cap hits whoever works; calls are held against each other";
}

TEST(GpuState, SaysWhenReasonsAreUnknown) {
  GpuState state;
  EXPECT_TRUE(to_json(state)["slowed_by"].is_null());
  state.reasons_known = true;
  EXPECT_TRUE(to_json(state)["slowed_by"].is_array());
}

TEST(GpuFacts, ListsDevicesOrSaysWhyThereAreNone) {
  const auto all = describe_gpus();
  if (!all) {
    EXPECT_EQ(all.error().blame, Blame::machine);
    return;
  }
  ASSERT_FALSE(all->empty());
  for (const GpuFacts& facts : *all) {
    EXPECT_FALSE(facts.name.empty());
    EXPECT_EQ(facts.uuid.size(), 40u);
    EXPECT_GT(facts.l2_bytes, 0u);
    EXPECT_GT(facts.multiprocessors, 0);
    EXPECT_EQ(to_json(facts)["uuid"], facts.uuid);
  }
}

TEST(Nvml, IsNamedWhereItIsAbsent) {
  const auto nvml = Nvml::open("GPU-00000000-0000-0000-0000-000000000000");
  ASSERT_FALSE(nvml);
  EXPECT_TRUE(nvml.error().what.starts_with("clocks, power and heat are unknown: ")) << nvml.error().what;
}

}  // namespace
}  // namespace whet
