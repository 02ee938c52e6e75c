// SPDX-License-Identifier: Apache-2.0
// The time between our two events against CUPTI's span of the same kernel, which sees the kernel alone: less what two events with nothing between them say, they
// agree within 2 % and 0.5 us for kernels of more than 10 us. Each kernel is timed without CUPTI, as in a judgement, and then again with it.
#include "tests/gpu/cupti/tracer.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "base/embedded.h"
#include "tests/gpu/device.h"
#include "truth/gpu/bracket.h"

namespace whet {

std::span<const EmbeddedFile> embedded_timed_kernels();

namespace {

constexpr int kTimes = 21;
constexpr double kPart = 0.02, kNs = 500, kFromNs = 10e3;

double middle(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? -1 : values[values.size() / 2];
}

class AgainstCupti : public testing::Test {
 protected:
  void SetUp() override {
    const DeviceCode& code = device()->code();
    ASSERT_OK(code.make_current());
    ASSERT_OK(driver().check(driver().stream_create(&stream_, cuda::kStreamDefault), "a stream"));
    auto made = Bracket::make(code, stream_);
    ASSERT_OK(made);
    bracket_ = std::move(*made);
    const std::string_view image = embedded_timed_kernels().front().contents;
    std::vector<uint64_t> words((image.size() + 7) / 8);
    std::memcpy(words.data(), image.data(), image.size());
    ASSERT_OK(driver().check(driver().module_load(&module_, words.data()), "loading the kernels"));
    ASSERT_OK(driver().check(driver().module_function(&spin_, module_, "timed_spin"), "finding timed_spin"));
    ASSERT_OK(driver().check(driver().module_function(&copy_, module_, "timed_copy"), "finding timed_copy"));
  }
  void TearDown() override {
    bracket_ = {};
    if (module_) (void)driver().module_unload(module_);
    if (stream_) (void)driver().stream_destroy(stream_);
  }
  const cuda::Driver& driver() const { return device()->code().driver(); }

  // Between our events, flushed before, behind the blocker: as in a judgement.
  double timed(const std::function<cuda::Result()>& work) {
    EXPECT_TRUE(bracket_.flush());
    EXPECT_TRUE(bracket_.block());
    EXPECT_TRUE(bracket_.begin());
    EXPECT_EQ(work(), cuda::kSuccess);
    EXPECT_TRUE(bracket_.end());
    bracket_.release();
    EXPECT_EQ(bracket_.finish(), cuda::kSuccess);
    return bracket_.device_ns();
  }
  std::vector<double> many(const std::function<cuda::Result()>& work) {
    std::vector<double> times;
    for (int i = 0; i < kTimes; ++i) times.push_back(timed(work));
    return times;
  }
  cuda::Result spin(long long cycles) {
    void* parameters[] = {&cycles};
    return driver().launch(spin_, 1, 1, 1, 32, 1, 1, 0, stream_, parameters, nullptr);
  }
  cuda::Result copy(cuda::Address from, cuda::Address to, long long bytes) {
    long long count = bytes / 16;
    void* parameters[] = {&from, &to, &count};
    return driver().launch(copy_, device()->code().blocks_for(count), 1, 1, 256, 1, 1, 0, stream_, parameters, nullptr);
  }

  void compare(CuptiTracer& tracer, const std::string& name, double empty, const std::function<cuda::Result()>& work) {
    (void)many(work);  // warm
    const double ours = middle(many(work)) - empty;
    ASSERT_OK(tracer.start());
    const double traced = middle(many(work)) - empty;
    const auto spans = tracer.stop();
    ASSERT_OK(spans);
    std::vector<double> theirs;
    for (const auto& span : *spans)
      if (span.name.find("timed_") != std::string::npos) theirs.push_back(static_cast<double>(span.end_ns - span.begin_ns));
    ASSERT_EQ(theirs.size(), static_cast<size_t>(kTimes)) << name;
    const double cupti = middle(theirs);
    std::printf("%-16s ours %9.2f us  CUPTI %9.2f us  %+6.2f us %+6.2f %%  (ours under CUPTI %9.2f us)\n", name.c_str(), ours / 1e3, cupti / 1e3, (ours - cupti) / 1e3,
                100 * (ours / cupti - 1), traced / 1e3);
    if (cupti > kFromNs) { EXPECT_NEAR(ours, cupti, kPart * cupti + kNs) << name; }
  }

  cuda::Stream stream_ = nullptr;
  cuda::Module module_ = nullptr;
  cuda::Function spin_ = nullptr, copy_ = nullptr;
  Bracket bracket_;
};

TEST_F(AgainstCupti, EventsBehindABlockerAgreeWithItsSpans) {
  auto tracer = CuptiTracer::open();
  if (!tracer) GTEST_SKIP() << tracer.error().what;
  const double empty = middle(many([] { return cuda::kSuccess; }));
  const double clock = bracket_.clock_mhz();
  std::printf("two events with nothing between: %.2f us; clock %.0f MHz\n", empty / 1e3, clock);
  ASSERT_GT(clock, 200);
  for (const double us : {1.0, 2.0, 5.0, 10.0, 12.0, 15.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0})
    compare(*tracer, fmt::format("spin {} us", us), empty, [&] { return spin(static_cast<long long>(us * clock)); });
  constexpr uint64_t kMost = uint64_t{2} << 30;
  const auto from = device()->allocate(kMost, DeviceBuffer::Place::start, 0), to = device()->allocate(kMost, DeviceBuffer::Place::start, 0);
  ASSERT_OK(from);
  ASSERT_OK(to);
  for (const uint64_t mib : {uint64_t{1}, uint64_t{16}, uint64_t{64}, uint64_t{256}, uint64_t{1024}, uint64_t{2048}})
    compare(*tracer, fmt::format("copy {} MiB", mib), empty, [&] { return copy(from->address(), to->address(), static_cast<long long>(mib << 20)); });
}

}  // namespace
}  // namespace whet
