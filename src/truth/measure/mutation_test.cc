// SPDX-License-Identifier: Apache-2.0
#include "truth/measure/mutation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "truth/measure/number_format.h"

namespace whet {
namespace {

using testing::ElementsAre;

TEST(Mutation, ZeroesTheTailOfOneAxis) {
  std::vector<int16_t> data(3 * 2 * 4, 1);
  zero_tail(Dtype::int16, data.data(), {3, 2, 4}, 1);
  for (size_t i = 0; i < data.size(); ++i) EXPECT_EQ(data[i], i / 4 % 2 == 0) << i;
  std::vector<int8_t> long_axis(40, 1);
  zero_tail(Dtype::int8, long_axis.data(), {40}, 0);  // a sixteenth of 40
  EXPECT_EQ(std::count(long_axis.begin(), long_axis.end(), 0), 2);
  EXPECT_EQ(long_axis[37], 1);
  zero_tail(Dtype::int8, long_axis.data(), {0, 40}, 0);
}

TEST(Mutation, RoundsToTheNextLowerPrecision) {
  std::vector<float> singles = {1.0f, 1.0f + 0x1p-11f, 1.0f + 0x1p-11f + 0x1p-23f, 1.0f + 3 * 0x1p-11f, -3.14159274f};
  round_down(Dtype::float32, singles.data(), 5);
  EXPECT_THAT(singles, ElementsAre(1.0f, 1.0f, 1.0f + 0x1p-10f, 1.0f + 0x1p-9f, -3.140625f));  // ties to even
  std::vector<double> doubles = {1.0 + 0x1p-40, 1.0 / 3};
  round_down(Dtype::float64, doubles.data(), 2);
  EXPECT_THAT(doubles, ElementsAre(1.0, static_cast<double>(1.0f / 3)));
  const float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> special = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
  round_down(Dtype::float32, special.data(), 3);
  EXPECT_EQ(special[0], infinity);
  EXPECT_EQ(special[1], -infinity);
  EXPECT_TRUE(std::isnan(special[2]));
  std::vector<int32_t> integers = {12345677};
  round_down(Dtype::int32, integers.data(), 1);
  EXPECT_THAT(integers, ElementsAre(12345677));
}

// Every value of an 8-bit format becomes one with a mantissa bit fewer, at most half a step away.
TEST(Mutation, LeavesOneBitLessOfAnEightBitFloat) {
  for (const auto& [dtype, mantissa] : {std::pair{Dtype::float8_e4m3fn, 3}, {Dtype::float8_e5m2, 2}})
    for (int bits = 0; bits < 256; ++bits) {
      auto byte = static_cast<uint8_t>(bits);
      const double before = load_element(dtype, &byte, 0);
      round_down(dtype, &byte, 1);
      const double after = load_element(dtype, &byte, 0);
      if (!std::isfinite(before) || !std::isfinite(after)) continue;
      const bool normal = ((bits & 127) >> mantissa) != 0;
      EXPECT_FALSE(normal && (byte & 1)) << bits;
      EXPECT_LE(std::fabs(after - before), std::fabs(before) * std::ldexp(1.0, -mantissa)) << bits;
    }
}

TEST(Mutation, TheMeanStandsEverywhere) {
  std::vector<float> data(50001);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i);
  std::vector<float> mean(data.size());
  fill_with_mean(Dtype::float32, data.data(), 50001, mean.data());
  for (float value : mean) ASSERT_EQ(value, 25000.0f);
  fill_with_mean(Dtype::float32, data.data(), 0, nullptr);
}

TEST(Mutation, RepeatsWhole) {
  const char pattern[] = {'a', 'b', 'c'};
  for (uint64_t bytes : {uint64_t{0}, uint64_t{2}, uint64_t{3}, uint64_t{11}, uint64_t{1000}}) {
    std::vector<char> out(bytes + 1, '!');
    repeat(out.data(), bytes, pattern, 3);
    for (uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(out[i], pattern[i % 3]) << i << " of " << bytes;
    EXPECT_EQ(out[bytes], '!');
  }
}

}  // namespace
}  // namespace whet
