// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "truth/gpu/device_work.h"

namespace whet {

// The device that all tests of a program share; opened by main(), which ends with code 77 ("skipped") where there is none.
inline std::unique_ptr<DeviceWork>& device() {
  static std::unique_ptr<DeviceWork> work;
  return work;
}

// ASSERT that an Expected has a value, showing the error if not.
#define ASSERT_OK(...)                                             \
  do {                                                             \
    const auto& whet_checked = (__VA_ARGS__);                      \
    ASSERT_TRUE(whet_checked) << whet_checked.error().what;        \
  } while (0)

}  // namespace whet
