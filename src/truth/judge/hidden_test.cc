// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/hidden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/file.h"
#include "base/json_impl.h"
#include "task/load.h"
#include "truth/measure/draw.h"

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

// Packed sequences of x with running sums and, beside them, keys in pages: all that hangs on the axes and lengths follows.
Task ragged_task() {
  Task task;
  Definition definition;
  definition.name = "ragged";
  for (const char* axis : {"batch", "ends", "total", "pages", "page_size", "pages_each"}) definition.axes.push_back({axis, std::nullopt, ""});
  definition.constraints = {"ends == batch + 1", "pages >= batch * pages_each"};
  definition.inputs = {{"x", std::vector<std::string>{"total"}, Dtype::float8_e4m3fn, "", Role::activation},
                       {"keys", std::vector<std::string>{"pages", "page_size"}, Dtype::float8_e4m3fn, "", Role::activation},
                       {"offsets", std::vector<std::string>{"ends"}, Dtype::int32, "", Role::plan},
                       {"used", std::vector<std::string>{"batch"}, Dtype::int32, "", Role::plan},
                       {"table", std::vector<std::string>{"batch", "pages_each"}, Dtype::int32, "", Role::plan},
                       {"most_rows", std::nullopt, Dtype::int64, "", Role::activation},
                       {"most_keys", std::nullopt, Dtype::int64, "", Role::activation}};
  definition.outputs = {{"o", std::vector<std::string>{"total"}, Dtype::bfloat16, "", Role::activation}};
  Workload workload;
  workload.name = "w";
  workload.definition = "ragged";
  workload.axes = {{"batch", 2}, {"ends", 3}, {"total", 5}, {"pages", 8}, {"page_size", 4}, {"pages_each", 4}};
  workload.inputs["x"] = workload.inputs["keys"] = {};
  for (const char* name : {"offsets", "used", "table"}) workload.inputs[name].recipe.kind = Recipe::Kind::lengths;
  workload.inputs["table"].recipe.kind = Recipe::Kind::page_permutation;
  workload.inputs["offsets"].recipe.lengths = {0, 2, 5};
  workload.inputs["used"].recipe.lengths = {16, 3};
  workload.inputs["most_rows"] = {InputSource::Kind::scalar, int64_t{3}, "", "", {}};
  workload.inputs["most_keys"] = {InputSource::Kind::scalar, int64_t{16}, "", "", {}};
  workload.tolerance = {0.12, 0.12, 0.06};
  task.definitions = {definition};
  task.workloads = {workload};
  task.tolerance[Dtype::bfloat16] = {2e-2, 2e-2, 5e-3};
  task.ranges["batch"] = {{}, 1, 6, 1, "", "", "", ""};
  task.ranges["ends"].follows = "batch + 1";
  task.ranges["pages"].follows = "batch * pages_each";
  task.ranges["page_size"] = {{1, 16}, 0, 0, 1, "", "", "", ""};
  task.ranges["pages_each"] = {{}, 1, 5, 1, "", "", "", ""};
  task.ranges["offsets"] = {{}, 0, 20, 1, "", "", "total", "most_rows"};
  task.ranges["used"] = {{}, 0, 0, 1, "", "pages_each * page_size", "", "most_keys"};
  return task;
}

TEST(Hidden, LengthsAreDrawnAndWhatHangsOnThemFollows) {
  const Task task = ragged_task();
  const Definition& definition = task.definitions[0];
  std::vector<std::string> remarks;
  const auto workloads = hidden_workloads(task, "secret", 300, remarks);
  ASSERT_EQ(workloads.size(), 300U) << testing::PrintToString(remarks);
  int empty = 0, longest_keys = 0, ragged = 0;
  for (const Workload& workload : workloads) {
    const auto axis = [&](const char* name) { return workload.axes.at(name); };
    const auto& ends = workload.inputs.at("offsets").recipe.lengths;
    const auto& used = workload.inputs.at("used").recipe.lengths;
    ASSERT_EQ(static_cast<int64_t>(ends.size()), axis("batch") + 1);
    ASSERT_EQ(static_cast<int64_t>(used.size()), axis("batch"));
    EXPECT_EQ(axis("ends"), axis("batch") + 1);
    EXPECT_EQ(axis("pages"), axis("batch") * axis("pages_each"));
    EXPECT_EQ(ends.front(), 0);
    EXPECT_EQ(ends.back(), axis("total"));
    EXPECT_GT(axis("total"), 0);
    int64_t most_rows = 0;
    for (size_t i = 1; i < ends.size(); ++i) {
      const int64_t rows = ends[i] - ends[i - 1];
      EXPECT_GE(rows, 0);
      EXPECT_LE(rows, 20);
      most_rows = std::max(most_rows, rows);
      empty += rows == 0;
    }
    EXPECT_EQ(std::get<int64_t>(workload.inputs.at("most_rows").scalar), most_rows);
    const auto [least, most] = std::minmax_element(used.begin(), used.end());
    EXPECT_GE(*least, 0);
    EXPECT_LE(*most, axis("pages_each") * axis("page_size"));
    EXPECT_EQ(std::get<int64_t>(workload.inputs.at("most_keys").scalar), *most);
    longest_keys += *most == axis("pages_each") * axis("page_size");
    ragged += *least != *most;
    EXPECT_EQ(workload.inputs.at("table").recipe.kind, Recipe::Kind::page_permutation);
    EXPECT_EQ(workload.tolerance, (Tolerance{0.12, 0.12, 0.06})) << "what this Definition's precision needs";
    for (const TensorSpec& input : definition.inputs)
      EXPECT_TRUE(input.is_scalar() || InputGenerator::make(definition, workload, input.name)) << input.name;
  }
  EXPECT_GT(empty, 20);
  EXPECT_GT(longest_keys, 5);
  EXPECT_GT(ragged, 150);
  EXPECT_THAT(describe_hidden(task, workloads.front()), HasSubstr(", offsets 0 "));
}

TEST(Hidden, LengthsWithoutARangeAreSaid) {
  Task task = ragged_task();
  task.ranges.erase("used");
  std::vector<std::string> remarks;
  EXPECT_THAT(hidden_workloads(task, "secret", 3, remarks), IsEmpty());
  EXPECT_THAT(remarks, ElementsAre("no hidden workloads of ragged: [ranges] does not say what its used may hold"));
}

// Every Definition of the shipped tasks has hidden workloads, and each is one that could stand in its file.
TEST(Hidden, TheShippedTasksHaveThemForEveryDefinition) {
  for (const char* name : {"attention-hopper", "attention-cpu", "rmsnorm-cpu"}) {
    SCOPED_TRACE(name);
    const auto files = read_tree(std::filesystem::path(WHET_SOURCE_DIR) / "tasks" / name);
    ASSERT_TRUE(files) << files.error().what;
    const auto task = load_task(*files, name);
    ASSERT_TRUE(task) << task.error().what;
    std::vector<std::string> remarks;
    const int count = 25 * static_cast<int>(task->definitions.size());
    const auto workloads = hidden_workloads(*task, "secret", count, remarks);
    EXPECT_THAT(remarks, IsEmpty());
    std::map<std::string, int> by_definition;
    for (const Workload& workload : workloads) {
      ++by_definition[workload.definition];
      std::vector<std::string> complaints;
      Workload named = workload;
      named.sets = {"full"};
      (void)workload_from_json(to_json(named), *task->definition(workload.definition), describe_hidden(*task, workload), complaints);
      EXPECT_THAT(complaints, IsEmpty());
    }
    for (const Definition& definition : task->definitions) EXPECT_EQ(by_definition[definition.name], 25) << definition.name;
  }
}

// Whoever asks for few must not always get the same Definitions.
TEST(Hidden, DefinitionsTakeTurnsInAnOrderOfTheSecret) {
  Task task = small_task();
  for (const char* name : {"e", "f", "g"}) {
    task.definitions.push_back(task.definitions[0]);
    task.definitions.back().name = name;
    task.workloads.push_back(task.workloads[0]);
    task.workloads.back().definition = name;
  }
  std::set<std::string> first;
  for (int i = 0; i < 40; ++i) {
    std::vector<std::string> remarks;
    std::set<std::string> all;
    const auto workloads = hidden_workloads(task, std::to_string(i), 4, remarks);
    for (const Workload& workload : workloads) all.insert(workload.definition);
    EXPECT_EQ(all.size(), 4U);
    first.insert(workloads.front().definition);
  }
  EXPECT_EQ(first.size(), 4U);
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
  EXPECT_THAT(remarks, ElementsAre("no hidden workloads of d: [ranges] does not say what its x may hold"));
  remarks.clear();
  task.ranges.clear();
  EXPECT_THAT(hidden_workloads(task, "a", 3, remarks), IsEmpty());
  EXPECT_THAT(remarks, IsEmpty());
}

}  // namespace
}  // namespace whet
