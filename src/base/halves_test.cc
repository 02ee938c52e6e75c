// SPDX-License-Identifier: Apache-2.0
#include "base/halves.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace whet {
namespace {

TEST(Halves, CoverEveryElementOnceAndCutAtAUnit) {
  for (int64_t count : {0, 1, 63, 64, 127, 128, 1000, 4096}) {
    for (int64_t worth : {0, 128, 1 << 20}) {
      std::vector<std::atomic<int>> touched(static_cast<size_t>(count));
      in_halves(count, 64, worth, [&](int64_t begin, int64_t end) {
        EXPECT_EQ(begin % 64, 0);
        EXPECT_TRUE(end == count || end % 64 == 0) << end;
        for (int64_t i = begin; i < end; ++i) ++touched[static_cast<size_t>(i)];
      });
      for (const auto& times : touched) EXPECT_EQ(times, 1) << count;
    }
  }
}

TEST(Halves, StayTogetherBelowWhatIsWorthAThread) {
  const auto here = std::this_thread::get_id();
  int calls = 0;
  in_halves(1000, 1, 1001, [&](int64_t, int64_t) {
    EXPECT_EQ(std::this_thread::get_id(), here);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
}

TEST(Halves, CanBeCalledFromSeveralThreadsAtOnce) {
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&] {
      for (int i = 0; i < 500; ++i) in_halves(100, 1, 0, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 500 * 100);
}

}  // namespace
}  // namespace whet
