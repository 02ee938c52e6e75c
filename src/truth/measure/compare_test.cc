// SPDX-License-Identifier: Apache-2.0
#include "truth/measure/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "truth/measure/number_format.h"

namespace whet {
namespace {

const Tolerance kTight{1e-3, 1e-3, -1};

std::vector<float> random_values(size_t n) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> values(n);
  for (float& value : values) value = normal(random);
  return values;
}

Comparison compare_floats(const std::vector<float>& got, const std::vector<float>& want, Tolerance tolerance = kTight, NanPolicy policy = NanPolicy::forbid) {
  return compare(Dtype::float32, got.data(), want.data(), static_cast<int64_t>(got.size()), tolerance, policy);
}

TEST(Compare, AcceptsWhatLiesWithinTheBound) {
  const auto want = random_values(5000);
  auto got = want;
  for (float& value : got) value *= 1.0004f;
  const auto found = compare_floats(got, want);
  EXPECT_TRUE(found.passes);
  EXPECT_NEAR(found.norm, 4e-4, 1e-5);
  EXPECT_GT(found.worst_bound, 0.1);
  EXPECT_LT(found.worst_bound, 0.5);
}

// Wherever in the tensor it stands: in a tile that is measured by vectors, in the last one, at either end.
TEST(Compare, FindsOneWrongElementAnywhere) {
  const auto want = random_values(3 * 1024 + 37);
  for (size_t at : {size_t{0}, size_t{1023}, size_t{1024}, size_t{2500}, size_t{3 * 1024}, want.size() - 1}) {
    auto got = want;
    got[at] += 0.01f * (std::fabs(want[at]) + 1);
    const auto found = compare_floats(got, want);
    EXPECT_FALSE(found.passes) << at;
    EXPECT_EQ(found.worst_index, static_cast<int64_t>(at));
    EXPECT_EQ(found.failing, 1);
  }
}

TEST(Compare, ZerosDoNotHideBelowAnAbsoluteTolerance) {
  auto want = random_values(2048);
  for (float& value : want) value *= 1e-6f;
  EXPECT_FALSE(compare_floats(std::vector<float>(2048, 0.0f), want).passes);
  EXPECT_TRUE(compare_floats(std::vector<float>(64, 0.0f), std::vector<float>(64, 0.0f)).passes) << "exact zeros that are right";
}

// Rows that see nothing are zero; how many there are must not decide what the others may be off by.
TEST(Compare, ExactZerosDoNotTightenTheBound) {
  for (const size_t size : {size_t{4096}, size_t{4096 + 37}}) {
    const auto dense = random_values(size);
    std::vector<float> want(16 * size, 0.0f);
    std::copy(dense.begin(), dense.end(), want.end() - static_cast<std::ptrdiff_t>(size));
    const Magnitude alone = magnitude_of(Dtype::float32, dense.data(), static_cast<int64_t>(size)), among = magnitude_of(Dtype::float32, want.data(), static_cast<int64_t>(want.size()));
    EXPECT_EQ(among.elements, static_cast<int64_t>(size));
    EXPECT_NEAR(among.rms(), alone.rms(), 1e-12 * alone.rms());
    auto got = want;
    for (size_t i = want.size() - size; i < want.size(); ++i) got[i] += 0.9e-3f * static_cast<float>(alone.rms());
    EXPECT_TRUE(compare_floats(got, want).passes) << "by the rms of all elements, of which 15 in 16 are zero, it was 3.6 times the tolerance";
    got = want;
    got[7] = 1.1e-3f * static_cast<float>(alone.rms());
    EXPECT_FALSE(compare_floats(got, want).passes) << "a zero that is expected has the same bound";
  }
  const std::vector<float> zeros(64, 0.0f);
  auto got = zeros;
  got[3] = 1e-30f;
  EXPECT_FALSE(compare_floats(got, zeros).passes) << "where only zeros are expected, nothing else will do";
  EXPECT_EQ(magnitude_of(Dtype::float32, zeros.data(), 64).rms(), 0);
}

TEST(Compare, MagnitudeIsOfWhatIsFiniteAndNotZero) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values = {3, 0, -0.0f, infinity, -4, std::numeric_limits<float>::quiet_NaN()};
  const Magnitude found = magnitude_of(Dtype::bfloat16, values.data(), 6);
  EXPECT_EQ(found.elements, 2);
  EXPECT_EQ(found.squares, 25);
  EXPECT_EQ(magnitude_of(Dtype::int32, values.data(), 6).elements, 0);
}

TEST(Compare, FollowsTheNanPolicy) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  auto want = random_values(2048), got = want;
  got[5] = nan;
  EXPECT_TRUE(compare_floats(got, want).not_finite);
  EXPECT_FALSE(compare_floats(got, want, kTight, NanPolicy::match).passes);
  want[5] = nan;
  EXPECT_TRUE(compare_floats(got, want, kTight, NanPolicy::match).passes);
  EXPECT_FALSE(compare_floats(got, want).passes) << "a NaN in the reference is no wildcard";
  want[5] = got[5] = infinity;
  EXPECT_TRUE(compare_floats(got, want, kTight, NanPolicy::match).passes);
  got[5] = -infinity;
  EXPECT_FALSE(compare_floats(got, want, kTight, NanPolicy::match).passes);
}

TEST(Compare, HoldsTheNorm) {
  const auto want = random_values(2048);
  auto got = want;
  for (float& value : got) value *= 1.0008f;
  EXPECT_TRUE(compare_floats(got, want, {1e-3, 1e-3, 1e-3}).passes);
  EXPECT_FALSE(compare_floats(got, want, {1e-3, 1e-3, 5e-4}).passes);
}

TEST(Compare, WidensBfloat16) {
  const auto want = random_values(1024);
  std::vector<uint16_t> got(1024);
  convert_expected(Dtype::bfloat16, want.data(), 1024, got.data());
  EXPECT_TRUE(compare(Dtype::bfloat16, got.data(), want.data(), 1024, {4e-3, 1e-4, -1}, NanPolicy::forbid).passes);
  EXPECT_FALSE(compare(Dtype::bfloat16, got.data(), want.data(), 1024, {1e-4, 1e-4, -1}, NanPolicy::forbid).passes);
}

TEST(Compare, IntegersAreExact) {
  const std::vector<int64_t> want = {1, (int64_t{1} << 60) + 1}, close = {1, int64_t{1} << 60};
  EXPECT_TRUE(compare(Dtype::int64, want.data(), want.data(), 2, {1, 1, -1}, NanPolicy::forbid).passes);
  EXPECT_FALSE(compare(Dtype::int64, close.data(), want.data(), 2, {1, 1, -1}, NanPolicy::forbid).passes);
}

TEST(ElementName, CountsFromTheLastAxis) {
  EXPECT_EQ(element_name("o", {2, 3, 4}, 23), "o[1,2,3]");
  EXPECT_EQ(element_name("o", {}, 0), "o[]");
}

TEST(Digest, SeesEveryByte) {
  std::vector<uint8_t> bytes(1000);
  const uint64_t before = digest(bytes.data(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = 1;
    EXPECT_NE(digest(bytes.data(), bytes.size()), before) << i;
    bytes[i] = 0;
  }
}

}  // namespace
}  // namespace whet
