// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/hidden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace whet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Task small_task() {
  Definition definition;
  definition.name = "d";
  definition.axes = {{"heads", std::nullopt, ""}, {"groups", std::nullopt, ""}, {"length", std::nullopt, ""}, {"fixed", 8, ""}};
  definition.constraints = {"heads % groups == 0"};
  definition.inputs = {{"x", std::vector<std::string>{"heads", "length", "fixed"}, Dtype::float32, "", Role::activation},
                       {"scale", std::nullopt, Dtype::float32, "", Role::activation},
                       {"causal", std::nullopt, Dtype::boolean, "", Role::activation}};
  definition.outputs = {{"o", std::vector<std::string>{"heads", "length"}, Dtype::float32, "", Role::activation}};
  Workload workload;
  workload.name = "w";
  workload.definition = "d";
  workload.family = "f";
  workload.axes = {{"heads", 4}, {"groups", 2}, {"length", 100}};
  workload.inputs["x"] = {};
  workload.inputs["scale"] = {InputSource::Kind::scalar, 0.5, "", "", {}};
  workload.inputs["causal"] = {InputSource::Kind::scalar, false, "", "", {}};
  workload.tolerance = {1e-9, 1e-9, -1};
  workload.floor_bytes = 4096;
  Task task;
  task.definitions = {definition};
  task.workloads = {workload};
  task.tolerance[Dtype::float32] = {1e-3, 1e-3, -1};
  task.ranges["heads"] = {{1, 2, 3, 6}, 0, 0, 1};
  task.ranges["groups"] = {{}, 1, 3, 1};
  task.ranges["length"] = {{}, 16, 64, 16};
  task.ranges["scale"] = {{}, 0.25, 0.5, 0};
  task.ranges["causal"] = {{0, 1}, 0, 0, 1};
  return task;
}

TEST(Hidden, AreDrawnWithinRangesAndConstraints) {
  const Task task = small_task();
  std::vector<std::string> remarks;
  const auto workloads = hidden_workloads(task, "secret", 200, remarks);
  ASSERT_EQ(workloads.size(), 200U);
  EXPECT_THAT(remarks, IsEmpty());
  std::set<int64_t> heads, groups, lengths;
  std::set<bool> causal;
  for (const Workload& workload : workloads) {
    heads.insert(workload.axes.at("heads")), groups.insert(workload.axes.at("groups")), lengths.insert(workload.axes.at("length"));
    causal.insert(std::get<bool>(workload.inputs.at("causal").scalar));
    EXPECT_EQ(workload.axes.at("heads") % workload.axes.at("groups"), 0);
    const double scale = std::get<double>(workload.inputs.at("scale").scalar);
    EXPECT_GE(scale, 0.25);
    EXPECT_LE(scale, 0.5);
    EXPECT_EQ(workload.tolerance.rtol, 1e-3);  // that of a calibrated shape does not hold elsewhere
    EXPECT_EQ(workload.floor_bytes, 0);
  }
  EXPECT_THAT(heads, ElementsAre(1, 2, 3, 6));
  EXPECT_THAT(groups, ElementsAre(1, 2, 3));
  EXPECT_THAT(lengths, ElementsAre(16, 32, 48, 64));
  EXPECT_EQ(causal.size(), 2U);
}

TEST(Hidden, HangOnTheSecretAlone) {
  const Task task = small_task();
  std::vector<std::string> remarks;
  EXPECT_EQ(hidden_workloads(task, "a", 5, remarks), hidden_workloads(task, "a", 5, remarks));
  EXPECT_NE(hidden_workloads(task, "a", 5, remarks), hidden_workloads(task, "b", 5, remarks));
}

TEST(Hidden, AreNamedByWhatTheyAre) {
  const Task task = small_task();
  std::vector<std::string> remarks;
  const std::string text = describe_hidden(task, hidden_workloads(task, "a", 1, remarks).front());
  EXPECT_THAT(text, HasSubstr("d, heads "));
  EXPECT_THAT(text, HasSubstr(", causal "));
}

TEST(Hidden, SaysWhyThereAreNone) {
  Task task = small_task();
  std::vector<std::string> remarks;
  task.definitions[0].constraints = {"heads > 100"};
  EXPECT_THAT(hidden_workloads(task, "a", 3, remarks), IsEmpty());
  EXPECT_THAT(remarks, ElementsAre("only 0 of 3 hidden workloads: the ranges seldom keep the Definitions' constraints"));
  remarks.clear();
  task.workloads[0].inputs["x"].recipe.kind = Recipe::Kind::lengths;
  EXPECT_THAT(hidden_workloads(task, "a", 3, remarks), IsEmpty());
  EXPECT_THAT(remarks, ElementsAre("no hidden workloads of d: its inputs cannot be drawn from ranges"));
  remarks.clear();
  task.ranges.clear();
  EXPECT_THAT(hidden_workloads(task, "a", 3, remarks), IsEmpty());
  EXPECT_THAT(remarks, IsEmpty());
}

}  // namespace
}  // namespace whet
