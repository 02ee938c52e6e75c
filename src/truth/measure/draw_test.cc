// SPDX-License-Identifier: Apache-2.0
#include "truth/measure/draw.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>

#include "base/hash.h"
#include "truth/measure/number_format.h"

namespace whet {
namespace {

Definition vector_of(Dtype dtype) {
  Definition definition;
  definition.name = "d";
  definition.axes = {{"n", std::nullopt, ""}};
  definition.inputs = {{"x", std::vector<std::string>{"n"}, dtype, "", Role::activation}};
  return definition;
}

InputGenerator generator_for(const Definition& definition, int64_t n, Recipe recipe) {
  Workload workload;
  workload.axes = {{"n", n}};
  workload.inputs["x"] = {InputSource::Kind::random, int64_t{0}, "", "", recipe};
  auto generator = InputGenerator::make(definition, workload, "x");
  EXPECT_TRUE(generator) << generator.error().what;
  return *generator;
}

Recipe normal(double scale) {
  Recipe recipe;
  recipe.scale = scale;
  return recipe;
}

TEST(NormalQuantiles, AreSymmetricAndHaveUnitVariance) {
  double sum = 0, squares = 0;
  for (float value : normal_quantiles()) sum += value, squares += double{value} * value;
  EXPECT_EQ(sum, 0);
  EXPECT_NEAR(squares / 4096, 1, 2e-3);
  EXPECT_NEAR(normal_quantiles()[4095], 3.668, 0.001);
}

TEST(InputGenerator, WritesTheSameBitsInWholeAndInPieces) {
  const Definition definition = vector_of(Dtype::bfloat16);
  const auto generator = generator_for(definition, 1003, normal(1.75));
  const DrawKey key = derive_key("secret", "w", 3, "x");
  std::vector<uint16_t> whole(1003), pieces(1003);
  generator.write(key, 0, 1003, whole.data());
  for (int64_t begin = 0; begin < 1003; begin += 77) generator.write(key, begin, std::min<int64_t>(begin + 77, 1003), pieces.data());
  EXPECT_EQ(whole, pieces);
}

// The bits are part of the contract between CPU and GPU generators: this digest changes only with a new version of the contract.
TEST(InputGenerator, HasTheBitsOfTheContract) {
  const Definition definition = vector_of(Dtype::float32);
  const auto generator = generator_for(definition, 4096, normal(1));
  std::vector<float> values(4096);
  generator.write(derive_key("secret", "w", 0, "x"), 0, 4096, values.data());
  EXPECT_EQ(sha256_hex({reinterpret_cast<const char*>(values.data()), values.size() * 4}).substr(0, 16), "c49c776797f6bfd8");
}

TEST(InputGenerator, DrawsANormalWithTheScaleAsked) {
  const Definition definition = vector_of(Dtype::float32);
  const auto generator = generator_for(definition, 1 << 18, normal(1.75));
  std::vector<float> values(1 << 18);
  generator.write(derive_key("s", "w", 1, "x"), 0, 1 << 18, values.data());
  double sum = 0, squares = 0, lagged = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    sum += values[i], squares += double{values[i]} * values[i];
    if (i) lagged += double{values[i]} * values[i - 1];
  }
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 0.02);
  EXPECT_NEAR(std::sqrt(squares / n), 1.75, 0.02);
  EXPECT_NEAR(lagged / squares, 0, 0.01);
}

TEST(InputGenerator, GivesUnrelatedContentsToOtherDrawsAndTensors) {
  const Definition definition = vector_of(Dtype::float32);
  const auto generator = generator_for(definition, 512, normal(1));
  std::vector<float> a(512), b(512);
  generator.write(derive_key("s", "w", 1, "x"), 0, 512, a.data());
  generator.write(derive_key("s", "w", 2, "x"), 0, 512, b.data());
  int same = 0;
  for (int i = 0; i < 512; ++i) same += a[static_cast<size_t>(i)] == b[static_cast<size_t>(i)];
  EXPECT_LT(same, 10);
}

TEST(InputGenerator, PlantsPeaksInEveryRow) {
  Definition definition = vector_of(Dtype::float32);
  Recipe recipe = normal(1);
  recipe.kind = Recipe::Kind::planted;
  recipe.peaks = 1;
  const auto generator = generator_for(definition, 256, recipe);
  std::vector<float> values(256);
  generator.write(derive_key("s", "w", 1, "x"), 0, 256, values.data());
  int peaks = 0;
  for (float value : values) peaks += std::fabs(value) == 8;
  EXPECT_EQ(peaks, 1);
}

TEST(InputGenerator, IntegerRecipes) {
  Definition definition = vector_of(Dtype::int32);
  definition.inputs.push_back({"lengths", std::vector<std::string>{"n"}, Dtype::int32, "", Role::plan});
  Workload workload;
  workload.axes = {{"n", 4}};
  Recipe lengths, sums;
  lengths.kind = Recipe::Kind::lengths;
  lengths.lengths = {3, 0, 5};
  sums.kind = Recipe::Kind::cumsum_of;
  sums.of = "lengths";
  workload.inputs["x"] = {InputSource::Kind::random, int64_t{0}, "", "", sums};
  workload.inputs["lengths"] = {InputSource::Kind::random, int64_t{0}, "", "", lengths};
  std::vector<int32_t> values(4);
  InputGenerator::make(definition, workload, "x")->write({}, 0, 4, values.data());
  EXPECT_EQ(values, (std::vector<int32_t>{0, 3, 3, 8}));
  Recipe permutation;
  permutation.kind = Recipe::Kind::page_permutation;
  workload.inputs["x"].recipe = permutation;
  InputGenerator::make(definition, workload, "x")->write(derive_key("s", "w", 0, "x"), 0, 4, values.data());
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(NumberFormat, RoundTripsEveryValueOfTheSmallFormats) {
  for (uint32_t bits = 0; bits < 256; ++bits) {
    const float e4m3 = float_from_small(bits, 4, 3, false), e5m2 = float_from_small(bits, 5, 2, true);
    if (!std::isnan(e4m3)) { EXPECT_EQ(small_from_float(e4m3, 4, 3, false), bits); }
    if (!std::isnan(e5m2)) { EXPECT_EQ(small_from_float(e5m2, 5, 2, true), bits); }
  }
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float half = float_from_small(bits, 5, 10, true);
    if (!std::isnan(half)) { ASSERT_EQ(small_from_float(half, 5, 10, true), bits); }
    const float brain = float_from_bfloat16(static_cast<uint16_t>(bits));
    if (!std::isnan(brain)) { ASSERT_EQ(bfloat16_from_float(brain), bits); }
  }
}

TEST(NumberFormat, RoundsToNearestEven) {
  EXPECT_EQ(float_from_bfloat16(bfloat16_from_float(1.00390625f)), 1.0f);         // exactly between 1 and 1 + 2^-7: even
  EXPECT_EQ(float_from_bfloat16(bfloat16_from_float(1.01171875f)), 1.015625f);    // between, the upper one is even
  EXPECT_EQ(float_from_small(small_from_float(1000, 4, 3, false), 4, 3, false), 448);  // e4m3fn has no infinity
  EXPECT_TRUE(std::isinf(float_from_small(small_from_float(1e6f, 5, 10, true), 5, 10, true)));
}

}  // namespace
}  // namespace whet
