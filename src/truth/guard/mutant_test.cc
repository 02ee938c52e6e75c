// SPDX-License-Identifier: Apache-2.0
#include "truth/guard/mutant.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whet {
namespace {

using testing::ElementsAre;

// o[rows, columns] = x[rows, inner] y[inner, columns], with a page table and two scalars.
Definition product() {
  Definition definition;
  definition.name = "d";
  for (const char* axis : {"rows", "inner", "columns"}) definition.axes.push_back({axis, std::nullopt, ""});
  definition.inputs = {{"alpha", std::nullopt, Dtype::float32, "", Role::activation},
                       {"x", std::vector<std::string>{"rows", "inner"}, Dtype::float16, "", Role::activation},
                       {"pages", std::vector<std::string>{"rows"}, Dtype::int32, "", Role::plan},
                       {"y", std::vector<std::string>{"inner", "columns"}, Dtype::float16, "", Role::activation},
                       {"flag", std::nullopt, Dtype::boolean, "", Role::activation}};
  definition.outputs = {{"o", std::vector<std::string>{"rows", "columns"}, Dtype::float16, "", Role::activation},
                        {"sums", std::vector<std::string>{"rows"}, Dtype::float32, "", Role::activation}};
  return definition;
}

Workload shape(int64_t rows, int64_t inner, int64_t columns) {
  Workload workload;
  workload.axes = {{"rows", rows}, {"inner", inner}, {"columns", columns}};
  workload.inputs["alpha"] = {InputSource::Kind::scalar, 0.5, "", "", {}};
  workload.inputs["flag"] = {InputSource::Kind::scalar, true, "", "", {}};
  workload.inputs["x"] = workload.inputs["y"] = {};
  workload.inputs["pages"].recipe.kind = Recipe::Kind::page_permutation;
  return workload;
}

std::vector<std::string> names(const std::vector<AlteredInput>& altered) {
  std::vector<std::string> names;
  for (const AlteredInput& one : altered) names.push_back(one.mutant);
  return names;
}

TEST(Mutant, AltersWhatIsDrawnAndItsTails) {
  const auto altered = altered_inputs(product(), shape(4, 8, 2));
  EXPECT_THAT(names(altered), ElementsAre("ignores x", "ignores the tail of x along rows", "ignores the tail of x along inner", "ignores y", "ignores the tail of y along inner",
                                          "ignores the tail of y along columns", "lower precision", "ignores alpha", "ignores flag"));
  EXPECT_THAT(names(altered_inputs(product(), shape(4, 1, 1))), ElementsAre("ignores x", "ignores the tail of x along rows", "ignores y", "lower precision", "ignores alpha", "ignores flag"));
  EXPECT_THAT(altered[4].tensors, ElementsAre(2U));
  EXPECT_EQ(altered[5].axis, 1U);
  EXPECT_THAT(altered[5].places, ElementsAre(std::pair<size_t, size_t>{0, 1}));
  EXPECT_TRUE(altered[4].places.empty());
  EXPECT_THAT(altered[6].tensors, ElementsAre(0U, 2U));
}

TEST(Mutant, SkipsTheTailOfEveryAxisOfTheOutputs) {
  const auto tails = output_tails(product(), shape(4, 8, 2));
  ASSERT_EQ(tails.size(), 2U);
  EXPECT_EQ(tails[0].mutant, "skips the tail along rows");
  EXPECT_THAT(tails[0].places, ElementsAre(std::pair<size_t, size_t>{0, 0}, std::pair<size_t, size_t>{1, 0}));
  EXPECT_EQ(tails[1].mutant, "skips the tail along columns");
  EXPECT_TRUE(output_tails(product(), shape(1, 8, 1)).empty());
}

TEST(Mutant, AChangedScalarDiffers) {
  EXPECT_EQ(std::get<double>(changed_scalar({InputSource::Kind::scalar, 0.5, "", "", {}}).scalar), 0.625);
  EXPECT_EQ(std::get<double>(changed_scalar({InputSource::Kind::scalar, 0.0, "", "", {}}).scalar), 1.0);
  EXPECT_EQ(std::get<int64_t>(changed_scalar({InputSource::Kind::scalar, int64_t{9}, "", "", {}}).scalar), 4);
  EXPECT_FALSE(std::get<bool>(changed_scalar({InputSource::Kind::scalar, true, "", "", {}}).scalar));
}

}  // namespace
}  // namespace whet
