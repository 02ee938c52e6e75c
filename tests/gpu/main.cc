// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tests/gpu/device.h"

// 77: skipped, because there is no device; anything else is GoogleTest's.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  auto work = whet::DeviceWork::open(0);
  if (!work) {
    std::fprintf(stderr, "skipped: %s\n", work.error().what.c_str());
    return 77;
  }
  whet::device() = std::move(*work);
  const int code = RUN_ALL_TESTS();
  whet::device().reset();
  return code;
}
