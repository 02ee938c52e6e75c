// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/device_memory.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

constexpr uint64_t kGranule = uint64_t{2} << 20;

TEST(PlaceOnDevice, KeepsRedZonesAndAlignment) {
  for (uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1000}, kGranule - 100, kGranule, 3 * kGranule + 4})
    for (uint64_t draw : {uint64_t{0}, uint64_t{1}, uint64_t{77777}, ~uint64_t{0}})
      for (auto place : {DeviceBuffer::Place::start, DeviceBuffer::Place::drawn, DeviceBuffer::Place::end}) {
        const DevicePlacement p = place_on_device(bytes, place, draw, kGranule);
        EXPECT_EQ(p.object_bytes % kGranule, 0u);
        EXPECT_EQ(p.offset % 64, 0u);
        EXPECT_GE(p.offset, kDeviceRedZone);
        const uint64_t behind = p.object_bytes - p.offset - bytes;
        if (place == DeviceBuffer::Place::end) {
          EXPECT_LT(behind, 65u) << "what reads 64 bytes too far faults";
        } else {
          EXPECT_GE(behind, kDeviceRedZone);
        }
      }
}

TEST(PlaceOnDevice, DrawsOffsets) {
  EXPECT_NE(place_on_device(1000, DeviceBuffer::Place::drawn, 1, kGranule).offset, place_on_device(1000, DeviceBuffer::Place::drawn, 2, kGranule).offset);
}

}  // namespace
}  // namespace whet
