// SPDX-License-Identifier: Apache-2.0
// Wrong contents made on a device against the same made on the CPU: bit by bit.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "tests/gpu/device.h"
#include "truth/measure/mutation.h"
#include "truth/measure/number_format.h"

namespace whet {
namespace {

constexpr Dtype kAll[] = {Dtype::float64,     Dtype::float32, Dtype::float16, Dtype::bfloat16, Dtype::float8_e4m3fn, Dtype::float8_e5m2,
                          Dtype::float4_e2m1, Dtype::int64,   Dtype::int32,   Dtype::int16,    Dtype::int8,          Dtype::boolean};

// A tensor on either side, with the same bytes in it. `at` bytes beyond a multiple of 64.
class Both {
 public:
  Both(std::vector<uint8_t> bytes, uint64_t at = 0) : host(std::move(bytes)), at_(at) {
    auto made = device()->allocate(host.size() + at, DeviceBuffer::Place::start, 0);
    EXPECT_TRUE(made) << made.error().what;
    buffer_ = std::move(*made);
    EXPECT_TRUE(device()->write(address(), host));
  }
  cuda::Address address() const { return buffer_.address() + at_; }
  void expect_same(const std::string& what) const {
    const auto read = device()->read(address(), host.size());
    ASSERT_OK(read);
    ASSERT_TRUE(*read == host) << what << ": first difference at byte " << std::mismatch(read->begin(), read->end(), host.begin()).first - read->begin();
    const DeviceBuffer* buffers[] = {&buffer_};
    EXPECT_EQ(*device()->damage(buffers), std::vector<int64_t>{-1}) << what << ": it wrote past the tensor";
  }
  std::vector<uint8_t> host;

 private:
  uint64_t at_;
  DeviceBuffer buffer_;
};

std::vector<uint8_t> random_bytes(size_t size) {
  std::mt19937 random(11);
  std::vector<uint8_t> bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

std::vector<uint8_t> random_elements(Dtype dtype, int64_t count) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0.3, 1.7);
  std::vector<uint8_t> bytes(static_cast<size_t>(count * size_of(dtype)));
  for (int64_t i = 0; i < count; ++i) store_element(dtype, bytes.data(), i, is_float(dtype) ? normal(random) : std::floor(20 * normal(random)));
  return bytes;
}

TEST(DeviceMutation, ZeroesTheTailOfAnyAxis) {
  for (const Dtype dtype : kAll)
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{37}, {3, 1, 5, 128}, {64, 17, 33}, {2, 4099}, {1}, {5, 0, 3}})
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        Both both(random_bytes(static_cast<size_t>(element_count(shape) * size_of(dtype))));
        zero_tail(dtype, both.host.data(), shape, axis);
        ASSERT_OK(device()->zero_tail(dtype, both.address(), shape, axis));
        both.expect_same(fmt::format("{} axis {} of {}", name_of(dtype), axis, shape.size()));
      }
}

// Every value of the formats of 16 bits and fewer, and many of the others: all ways to round, subnormals, carries into the exponent, infinities. What a
// NaN's other bits are is nobody's concern.
TEST(DeviceMutation, RoundsToTheNextLowerPrecision) {
  for (const Dtype dtype : kAll) {
    const auto width = static_cast<size_t>(size_of(dtype));
    std::vector<uint8_t> bytes;
    if (width <= 2)
      for (uint32_t bits = 0; bits < (width == 1 ? 256u : 65536u); ++bits)
        for (size_t i = 0; i < width; ++i) bytes.push_back(static_cast<uint8_t>(bits >> (8 * i)));
    else bytes = random_bytes(300007 * width);
    if (is_float(dtype))
      for (size_t i = 0; i < bytes.size() / width; ++i)
        if (std::isnan(load_element(dtype, bytes.data(), static_cast<int64_t>(i)))) std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(i * width), width, uint8_t{0});
    Both both(std::move(bytes));
    const auto count = static_cast<int64_t>(both.host.size() / width);
    round_down(dtype, both.host.data(), count);
    ASSERT_OK(device()->round_down(dtype, both.address(), count));
    both.expect_same(std::string(name_of(dtype)));
  }
}

TEST(DeviceMutation, TheMeanHasTheBitsOfTheCpu) {
  for (const Dtype dtype : kAll)
    for (const int64_t count : {int64_t{1}, int64_t{1000}, kMeanLanes, 3 * kMeanLanes + 77, int64_t{1000003}}) {
      const Both from(random_elements(dtype, count));
      Both to(random_bytes(from.host.size()));
      fill_with_mean(dtype, from.host.data(), count, to.host.data());
      ASSERT_OK(device()->fill_with_mean(dtype, from.address(), count, to.address()));
      to.expect_same(fmt::format("{} {}", name_of(dtype), count));
      from.expect_same("what the mean is of");
    }
}

TEST(DeviceMutation, RepeatsWhatDoesNotFitWhole) {
  for (const uint64_t period : {uint64_t{1}, uint64_t{2}, uint64_t{12}, uint64_t{129}, uint64_t{4096}, uint64_t{100000}})
    for (const uint64_t bytes : {uint64_t{1}, uint64_t{63}, uint64_t{4096}, uint64_t{100002}, uint64_t{3000000}})
      for (const uint64_t at : {uint64_t{0}, uint64_t{2}}) {
        const Both from(random_bytes(period));
        Both to(std::vector<uint8_t>(bytes, 0x5a), at);
        repeat(to.host.data(), bytes, from.host.data(), period);
        ASSERT_OK(device()->repeat(to.address(), bytes, from.address(), period));
        to.expect_same(fmt::format("{} bytes of {}", bytes, period));
      }
}

// What this costs, against the floor of what it moves: printed, not judged.
TEST(DeviceMutation, WhatItCosts) {
  constexpr int64_t kCount = int64_t{64} << 20;
  constexpr Dtype kDtype = Dtype::bfloat16;
  auto a = device()->allocate(2 * kCount, DeviceBuffer::Place::start, 0), b = device()->allocate(2 * kCount, DeviceBuffer::Place::start, 0);
  ASSERT_OK(a);
  ASSERT_OK(b);
  ASSERT_OK(device()->zero(a->address(), 2 * kCount));
  const auto time = [](const char* what, double bytes, const auto& work) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      ASSERT_OK(work());
      ASSERT_OK(device()->synchronize());
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    fmt::print("{:16} {:8.1f} us, floor {:6.1f} us (4 TB/s)\n", what, best * 1e6, bytes / 4e6);
  };
  const double bytes = 2.0 * kCount;
  time("round_down", 2 * bytes, [&] { return device()->round_down(kDtype, a->address(), kCount); });
  time("fill_with_mean", 2 * bytes, [&] { return device()->fill_with_mean(kDtype, a->address(), kCount, b->address()); });
  time("repeat", bytes, [&] { return device()->repeat(b->address(), 2 * kCount, a->address(), 4096 * 30); });
  time("zero_tail 128", bytes / 16, [&] { return device()->zero_tail(kDtype, a->address(), {kCount / 128, 128}, 1); });
  time("magnitude_of", 2 * bytes, [&]() -> Status { WHET_TRY([[maybe_unused]] const auto found, device()->magnitude_of(Dtype::bfloat16, a->address(), kCount / 2)); return {}; });
  time("equal_elements", 2 * bytes, [&]() -> Status { WHET_TRY([[maybe_unused]] const auto found, device()->equal_elements(kDtype, a->address(), b->address(), kCount)); return {}; });
}

}  // namespace
}  // namespace whet
