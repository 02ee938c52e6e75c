// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/tuner.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>
#include <filesystem>
#include <set>

#include "base/file.h"

namespace whet {
namespace {

using Files = std::map<std::string, std::string>;

constexpr const char* kSource =
    "inline constexpr int kAPath = 0;  // whet:tune {0, 1, 2} family=a\n"
    "inline constexpr int kATile = 8;  // whet:tune {8, 16, 32} family=a\n"
    "inline constexpr int kBThreads = 1;  // whet:tune {1, 2} family=b\n"
    "inline constexpr int kBTile = 8;  // whet:tune {8, 16, 32} family=b\n";

Task task_of() {
  Task task{.name = "t", .start = "start"};
  for (const char* name : {"a1", "a2", "a3", "b1", "b2"})
    task.workloads.push_back({.definition = "d", .name = name, .family = std::string(1, name[0]), .sets = {"full"}});
  return task;
}

std::string value(const Files& files, const std::string& name) {
  const std::string& text = files.at("choices.h");
  const std::size_t at = text.find(name + " = ") + name.size() + 3;
  return text.substr(at, text.find(';', at) - at);
}

// ln(time) of a workload: paths 1.0, 0.4, 0; tiles best at 16; threads 0.6; the last workload of a family prefers another tile a little.
double cost(const Files& files, const std::string& workload) {
  const bool a = workload[0] == 'a';
  const double tile = std::log2(std::stod(value(files, a ? "kATile" : "kBTile")) / 16);
  double sum = 0.1 * std::abs(tile) + (workload == "a3" ? 0.02 * tile : 0);
  if (a) sum += value(files, "kAPath") == "0" ? 1.0 : value(files, "kAPath") == "1" ? 0.4 : 0;
  if (!a) sum += value(files, "kBThreads") == "1" ? 0.6 : 0;
  return sum;
}

// Drives a tuner by hand: it edits a folder, and what it asks for is "measured" exactly.
struct Bench {
  Task task = task_of();
  Files champion = {{"choices.h", kSource}};
  TemporaryDirectory folder = *TemporaryDirectory::make("whet-tuner");
  std::unique_ptr<Agent> tuner = *make_tuner({.task = &task, .start = champion});
  std::vector<StepReport> reports;
  std::string broken;  // a source that holds this text does not compile

  Bench() {
    Evaluation baseline;
    double ns = 1000;
    for (const Workload& workload : task.workloads) {  // a1 is dearest, then cheaper and cheaper
      Trial trial{.solution = "start", .role = "candidate", .verdict = {Code::correct}};
      trial.samples[Column::flushed] = {{0, 0, ns -= 10, ""}};
      baseline.workloads.push_back({.workload = workload.name, .family = workload.family, .trials = {trial}});
    }
    EXPECT_TRUE(tuner->observe({champion, nullptr, baseline}));
  }

  Evaluation evaluate(const Files& files, const Effort& effort) const {
    Evaluation evaluation{.verdict = {Code::correct}};
    if (!broken.empty() && files.at("choices.h").find(broken) != std::string::npos) {
      evaluation.verdict = {Code::compile_failed};
      return evaluation;
    }
    for (const Workload& workload : task.workloads) {
      if (!effort.challenge && std::ranges::find(effort.workloads, workload.name) == effort.workloads.end()) continue;
      evaluation.workloads.push_back(
          {.workload = workload.name, .family = workload.family, .trials = {{.solution = "candidate", .verdict = {Code::correct}}}});
      const double ratio = std::exp(cost(champion, workload.name) - cost(files, workload.name));
      evaluation.scoreboard.workloads.push_back(
          {.workload = workload.name, .family = workload.family, .versus = {{kChampion, {ratio, ratio * 0.99, ratio * 1.01}}}});
    }
    return evaluation;
  }

  // One step and its measurement; false when the tuner has finished.
  bool step(bool last_call = false) {
    std::filesystem::remove_all(folder.path());
    EXPECT_TRUE(write_tree(folder.path(), champion));
    const auto report = tuner->step({.clone = folder.path().string(), .last_call = last_call});
    EXPECT_TRUE(report) << report.error().what;
    if (report->finished) return false;
    reports.push_back(*report);
    const Files files = *read_tree(folder.path());
    const Files before = champion;
    const Evaluation evaluation = evaluate(files, report->effort);
    EXPECT_TRUE(tuner->observe({files, &before, evaluation}));
    if (report->effort.challenge && evaluation.verdict.correct()) champion = files;
    return true;
  }
};

TEST(Tuner, FindsTheBestOfEachFamily) {
  Bench bench;
  for (int i = 0; i < 100 && bench.step(); ++i) {
  }
  EXPECT_EQ(value(bench.champion, "kAPath"), "2");
  EXPECT_EQ(value(bench.champion, "kATile"), "16");
  EXPECT_EQ(value(bench.champion, "kBThreads"), "2");
  EXPECT_EQ(value(bench.champion, "kBTile"), "16");
  EXPECT_LE(bench.reports.size(), 20u);
}

TEST(Tuner, TriesAllFamiliesInOneCandidateOnTheirCheapestWorkloads) {
  Bench bench;
  ASSERT_TRUE(bench.step());
  EXPECT_EQ(bench.reports[0].families, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(bench.reports[0].effort.workloads, (std::vector<std::string>{"a3", "a2", "b2", "b1"}));
  EXPECT_FALSE(bench.reports[0].effort.challenge);
  EXPECT_GT(bench.reports[0].effort.give_up_below, 0);
}

TEST(Tuner, LooksTwiceAtWhatBeatsTheBest) {
  Bench bench;
  ASSERT_TRUE(bench.step());  // path 2: better
  ASSERT_TRUE(bench.step());
  EXPECT_EQ(bench.reports[1].families, (std::vector<std::string>{"a"}));
  EXPECT_EQ(bench.reports[1].effort.workloads, (std::vector<std::string>{"a1"}));
}

TEST(Tuner, HandsInItsBestAtTheLastCall) {
  Bench bench;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(bench.step());
  if (bench.step(true)) {
    EXPECT_TRUE(bench.reports.back().effort.challenge);
    EXPECT_EQ(value(bench.champion, "kAPath"), "2");
  }
  EXPECT_FALSE(bench.step(true));
}

TEST(Tuner, FindsOutWhoseValueDoesNotCompile) {
  Bench bench;
  bench.broken = "kAPath = 2;";
  for (int i = 0; i < 100 && bench.step(); ++i) {
  }
  EXPECT_EQ(value(bench.champion, "kAPath"), "1");
  EXPECT_EQ(value(bench.champion, "kATile"), "16");
  EXPECT_EQ(value(bench.champion, "kBThreads"), "2");
  EXPECT_EQ(value(bench.champion, "kBTile"), "16");
}

std::vector<Choice> choices_of_a() {
  std::vector<Choice> choices = *parse_choices({{"choices.h", kSource}});
  std::erase_if(choices, [](const Choice& choice) { return choice.family != "a"; });
  return choices;
}

// The workload that is left out of trials is the one that gained most: a trial is to be compared on the workloads that it shares with the best.
TEST(FamilyStudy, ComparesPointsOnTheWorkloadsThatTheyShare) {
  const Task task = task_of();
  FamilyStudy study("a", choices_of_a(), {&task.workloads[0], &task.workloads[1], &task.workloads[2]}, 1);
  const Point start = {0, 0}, best = {2, 0}, better = {2, 1}, worse = {2, 2};
  for (const auto& [workload, gain] : std::map<std::string, double>{{"a1", 0.5}, {"a2", 0.5}, {"a3", 2.0}}) study.learn(best, start, workload, gain, 0.01);
  study.publish(best);
  EXPECT_EQ(study.best_known(), best);
  EXPECT_NEAR(study.cost(best), -1.0, 1e-9);
  for (const auto& [point, gain] : std::map<Point, double>{{better, 0.6}, {worse, 0.4}})
    for (const char* workload : {"a1", "a2"}) study.learn(point, start, workload, gain, 0.01);
  EXPECT_NEAR(study.cost(better), -1.1, 1e-9);
  EXPECT_NEAR(study.cost(worse), -0.9, 1e-9);
  EXPECT_TRUE(study.promising(better));
  EXPECT_FALSE(study.promising(worse));
}

}  // namespace
}  // namespace whet
