// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/gpu_floor.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

GpuFacts h200() {
  GpuFacts gpu;
  gpu.compute_major = 9;
  gpu.multiprocessors = 132;
  gpu.clock_mhz = 1980;
  gpu.memory_clock_mhz = 3201;
  gpu.memory_bus_bits = 6144;
  return gpu;
}

// Datasheet of the H200: 4.8 TB/s (at 3201 MHz the pins give 4.917), 989 TFLOP/s in bfloat16 at 1830 MHz.
TEST(GpuFloor, IsThatOfTheDatasheetOrBelow) {
  EXPECT_NEAR(gpu_floor_ns(h200(), 4.917e9, 0, Dtype::bfloat16), 1e6, 1e3);
  EXPECT_NEAR(gpu_floor_ns(h200(), 0, 1.0705e12, Dtype::bfloat16), 1e6, 1e3);
  EXPECT_NEAR(gpu_floor_ns(h200(), 0, 1.0705e12, Dtype::float8_e4m3fn), 0.5e6, 1e3);
}

TEST(GpuFloor, TheLongerOfTheTwoCounts) {
  EXPECT_EQ(gpu_floor_ns(h200(), 1e9, 1e12, Dtype::bfloat16), gpu_floor_ns(h200(), 0, 1e12, Dtype::bfloat16));
}

TEST(GpuFloor, IsNotKnownWithoutClocks) {
  GpuFacts gpu = h200();
  gpu.memory_clock_mhz = 0;
  EXPECT_EQ(gpu_floor_ns(gpu, 1e9, 1e12, Dtype::bfloat16), 0);
}

}  // namespace
}  // namespace whet
