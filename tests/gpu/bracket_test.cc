// SPDX-License-Identifier: Apache-2.0
// What surrounds a timed call, on a real device.
#include "truth/gpu/bracket.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/gpu/device.h"
#include "truth/runner/protocol.h"

namespace whet {
namespace {

class OnAStream : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(device()->code().make_current());
    ASSERT_OK(driver().check(driver().stream_create(&stream_, cuda::kStreamDefault), "a stream"));
    auto made = Bracket::make(device()->code(), stream_);
    ASSERT_OK(made);
    bracket_ = std::move(*made);
  }
  void TearDown() override {
    bracket_ = {};
    (void)driver().stream_destroy(stream_);
  }
  const cuda::Driver& driver() const { return device()->code().driver(); }

  // Time of reading `range` once, behind the blocker.
  double time_of_reading(const gpu::Range& range, bool flushed) {
    EXPECT_TRUE(bracket_.touch({&range, 1}));
    if (flushed) { EXPECT_TRUE(bracket_.flush()); }
    EXPECT_TRUE(bracket_.block());
    EXPECT_TRUE(bracket_.begin());
    EXPECT_TRUE(bracket_.touch({&range, 1}));
    EXPECT_TRUE(bracket_.end());
    bracket_.release();
    EXPECT_EQ(bracket_.finish(), cuda::kSuccess);
    return bracket_.device_ns();
  }

  cuda::Stream stream_ = nullptr;
  Bracket bracket_;
};

TEST_F(OnAStream, FlushingLeavesNothingInTheLastCache) {
  const uint64_t bytes = device()->code().l2_bytes() / 4;
  const auto buffer = device()->allocate(bytes, DeviceBuffer::Place::start, 0);
  ASSERT_OK(buffer);
  ASSERT_OK(device()->zero(buffer->address(), bytes));
  ASSERT_OK(device()->synchronize());
  const gpu::Range range{buffer->address(), bytes};
  std::vector<double> cold, warm;
  for (int i = 0; i < 21; ++i) {
    cold.push_back(time_of_reading(range, true));
    warm.push_back(time_of_reading(range, false));
  }
  std::sort(cold.begin(), cold.end());
  std::sort(warm.begin(), warm.end());
  RecordProperty("cold_ns", std::to_string(cold[10]));
  RecordProperty("warm_ns", std::to_string(warm[10]));
  EXPECT_GT(cold[10], 1.3 * warm[10]) << "cold " << cold[10] << " ns, warm " << warm[10] << " ns for " << bytes << " bytes";
}

TEST_F(OnAStream, TheBlockerHidesALateHost) {
  ASSERT_OK(bracket_.block());
  ASSERT_OK(bracket_.begin());
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(5);
  while (std::chrono::steady_clock::now() < until) {}
  ASSERT_OK(device()->code().launch(Kernel::empty, 1, 1, 32, nullptr, stream_));
  ASSERT_OK(bracket_.end());
  bracket_.release();
  ASSERT_EQ(bracket_.finish(), cuda::kSuccess);
  EXPECT_FALSE(bracket_.gave_up());
  EXPECT_LT(bracket_.device_ns(), 100e3);
  EXPECT_GT(bracket_.device_ns(), 0);
  EXPECT_GT(bracket_.clock_mhz(), 200);
  EXPECT_LT(bracket_.clock_mhz(), 5000);
}

TEST_F(OnAStream, TheBlockerGivesUpAndSaysSo) {
  const auto start = std::chrono::steady_clock::now();
  ASSERT_OK(bracket_.block(50'000'000));
  ASSERT_EQ(bracket_.finish(), cuda::kSuccess) << "as a Solution that synchronises would";
  EXPECT_TRUE(bracket_.gave_up());
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(took, std::chrono::milliseconds(49));
  EXPECT_LT(took, std::chrono::milliseconds(500));
  ASSERT_OK(bracket_.block());
  bracket_.release();
  ASSERT_EQ(bracket_.finish(), cuda::kSuccess);
  EXPECT_FALSE(bracket_.gave_up()) << "that was the call before";
}

TEST_F(OnAStream, SamplesAsTheRunnerDoes) {
  std::vector<uint8_t> first(100003), second(19);
  for (size_t i = 0; i < first.size(); ++i) first[i] = static_cast<uint8_t>(i * 37 + i / 251);
  for (size_t i = 0; i < second.size(); ++i) second[i] = static_cast<uint8_t>(200 - i);
  const auto a = device()->allocate(first.size(), DeviceBuffer::Place::start, 0), b = device()->allocate(second.size(), DeviceBuffer::Place::start, 0);
  ASSERT_OK(a);
  ASSERT_OK(b);
  ASSERT_OK(device()->write(a->address(), first));
  ASSERT_OK(device()->write(b->address(), second));
  ASSERT_OK(device()->synchronize());
  const gpu::Range tensors[] = {{a->address(), first.size()}, {b->address(), second.size()}};
  for (const uint64_t salt : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}}) {
    const uint64_t want = runner::sample(runner::sample(0, first.data(), first.size(), salt), second.data(), second.size(), salt);
    EXPECT_EQ(*device()->sample(tensors, salt), want);
    ASSERT_OK(bracket_.sample(tensors, salt));
    ASSERT_EQ(bracket_.finish(), cuda::kSuccess);
    EXPECT_EQ(bracket_.sampled(), want);
  }
}

TEST_F(OnAStream, PersistingLinesHaveNoRoom) {
  EXPECT_EQ(bracket_.persisting_bytes(), 0u);
  // What a Solution may do is seen.
  if (driver().set_limit(cuda::kLimitPersistingL2, 1 << 20) == cuda::kSuccess) {
    EXPECT_GT(bracket_.persisting_bytes(), 0u);
    ASSERT_OK(bracket_.forbid_persisting());
    EXPECT_EQ(bracket_.persisting_bytes(), 0u);
  }
}

}  // namespace
}  // namespace whet
