// SPDX-License-Identifier: Apache-2.0
#include "search/optimize.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/file.h"
#include "base/json_impl.h"
#include "direction/agent/choices.h"
#include "search/git.h"
#include "search/scripted_judge_test.h"
#include "task/load.h"
#include "task/new_task.h"

namespace whet {
namespace {

using scripted::Crash;
using scripted::MemoryStore;
using scripted::World;
using ::testing::HasSubstr;

// A world, a ledger and a folder for one run.
struct Scene {
  World world;
  MemoryStore store{world};
  TemporaryDirectory folder = *TemporaryDirectory::make("whet-run");
  std::atomic<bool> stop{false};
  std::vector<Progress> seen;

  RunSetting setting() {
    return {.run_id = "r1",
            .folder = (folder.path() / "r1").string(),
            .store = &store,
            .open_worker = scripted::open_worker(world),
            .stop = &stop,
            .progress = [this](const Progress& progress) { seen.push_back(progress); },
            .clock = [this] { return world.now; }};
  }
  Expected<OptimizeResult> optimize(double seconds, uint64_t seed = 1) {
    OptimizeOptions options{.seed = seed};
    options.budget.wall_seconds = wall_limit(seconds);
    return whet::optimize(scripted::task_files(), options, setting());
  }
  std::string git(const std::vector<std::string>& arguments) { return *Git().run(setting().folder + "/repo", arguments); }
  void expect_sound() {
    std::set<std::pair<std::string, std::string>> once;
    for (std::size_t i = 0; i < store.records.size(); ++i) {
      EXPECT_EQ(store.records[i].sequence, static_cast<int>(i));
      EXPECT_TRUE(once.insert({store.records[i].evaluation.solution_hash, store.records[i].request_hash}).second) << "judged twice, as " << i;
    }
  }
};

std::map<std::string, std::string> chosen(const Files& files) {
  std::map<std::string, std::string> values;
  const auto choices = *parse_choices(files);
  for (const Choice& choice : choices) values[choice.name] = choice.value;
  return values;
}

double champion_cost(const World& world, const Files& files) {
  return (scripted::cost(world, "alpha", chosen(files)) + scripted::cost(world, "beta", chosen(files))) / 2;
}

TEST(Optimize, FindsMostOfTheGainAndConfirmsIt) {
  Scene scene;
  const auto result = scene.optimize(60);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_LT(champion_cost(scene.world, result->champion), 0.03);  // of 1.7 at the start
  EXPECT_GE(result->champions, 1);
  EXPECT_FALSE(result->confirmed_by.empty());
  ASSERT_TRUE(result->final);
  EXPECT_EQ(result->final->scoreboard.workloads_correct, 4);
  EXPECT_GT(result->final->scoreboard.geomean_vs.at("start").first.low, 4);
  EXPECT_NEAR(result->standing.gain, std::exp(1.7), 0.4);
  scene.expect_sound();
  EXPECT_EQ(scene.world.workers, 1);
  EXPECT_EQ(scene.store.runs.at("r1").status, result->ended);
}

TEST(Optimize, KeepsEveryCandidateAsACommitThatGitCanRead) {
  Scene scene;
  const auto result = scene.optimize(60);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(scene.git({"rev-parse", "champion"}), result->champion_commit);
  EXPECT_EQ(scene.git({"show", "champion:choices.h"}) + "\n", result->champion.at("choices.h"));
  const std::string message = scene.git({"log", "-1", "--format=%B", "champion"});
  EXPECT_THAT(message, HasSubstr("Whet-Evaluation: e"));
  EXPECT_THAT(message, HasSubstr("Whet-Solution: " + result->champion_hash));
  EXPECT_THAT(message, HasSubstr("Whet-Family: alpha"));
  EXPECT_THAT(scene.git({"tag", "-n9", "-l", "champion-1"}), HasSubstr("Whet-Evaluation: e"));
  const std::string refs = scene.git({"for-each-ref", "refs/whet/candidates"});
  EXPECT_EQ(std::ranges::count(refs, '\n') + 1, result->candidates - 1);  // start is main
  EXPECT_EQ(scene.git({"fsck", "--strict"}), "");
}

TEST(Optimize, NeverTakesAWrongConfiguration) {
  Scene scene;
  Files files = scripted::task_files();
  files["solutions/start/choices.h"] = scripted::choices_source(0, 8, 1, 0, 64, 1);  // with kBetaPath = 2 this tile is wrong
  OptimizeOptions options;
  options.budget.wall_seconds = wall_limit(200);
  const auto result = optimize(files, options, scene.setting());
  ASSERT_TRUE(result) << result.error().what;
  const auto values = chosen(result->champion);
  EXPECT_FALSE(values.at("kBetaPath") == "2" && values.at("kBetaTile") == "64");
  EXPECT_TRUE(std::ranges::any_of(scene.store.records, [](const JudgedRecord& r) { return r.evaluation.verdict.code == Code::wrong; }));
  EXPECT_THAT(result->ended, HasSubstr("finished"));
}

TEST(Optimize, NoiseMakesNoChampion) {
  int crowned = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Scene scene;
    scene.world.flat = true;
    scene.world.noise = 0.05;
    const auto result = scene.optimize(20, seed);
    ASSERT_TRUE(result) << result.error().what;
    crowned += result->champions > 0;
  }
  EXPECT_EQ(crowned, 0);
}

TEST(Optimize, KeepsItsBudgets) {
  {
    Scene scene;
    const auto result = scene.optimize(10);
    ASSERT_TRUE(result);
    EXPECT_THAT(result->ended, HasSubstr("wall_seconds"));
    EXPECT_LE(result->seconds, 14);  // the confirmation and the final judgement come on top
    EXPECT_TRUE(std::ranges::any_of(scene.seen, [](const Progress& p) { return p.kind == Progress::Kind::last_call; }));
    EXPECT_GE(result->champions, 1);
  }
  for (auto [member, limit] : std::initializer_list<std::pair<Limit Budget::*, double>>{{&Budget::steps, 4}, {&Budget::device_seconds, 5}}) {
    Scene scene;
    OptimizeOptions options;
    (options.budget.*member).hard = limit;
    const auto result = optimize(scripted::task_files(), options, scene.setting());
    ASSERT_TRUE(result);
    EXPECT_THAT(result->ended, HasSubstr("(hard)"));
    EXPECT_LE(result->steps, 4);
  }
}

TEST(Optimize, StopsWhenAskedAndGoesOnLater) {
  Scene scene;
  scene.world.at_boundary = [&] { scene.stop = scene.world.boundary >= 20; };
  const auto stopped = scene.optimize(60);
  ASSERT_TRUE(stopped) << stopped.error().what;
  EXPECT_EQ(stopped->ended, "stopped");
  EXPECT_FALSE(stopped->final);
  scene.world.at_boundary = nullptr;
  scene.stop = false;
  const auto resumed = resume(scene.setting());
  ASSERT_TRUE(resumed) << resumed.error().what;
  EXPECT_TRUE(resumed->final);
  scene.expect_sound();

  Scene undisturbed;
  const auto whole = undisturbed.optimize(60);
  EXPECT_EQ(resumed->champion_hash, whole->champion_hash);
  EXPECT_EQ(scene.store.records.size(), undisturbed.store.records.size());

  const int evaluations = scene.world.evaluations;
  const auto again = resume(scene.setting());  // it has ended: nothing is measured
  ASSERT_TRUE(again);
  EXPECT_EQ(again->final, resumed->final);
  EXPECT_EQ(scene.world.evaluations, evaluations);
}

// At each moment before and after an evaluation and a write to the ledger the process dies and is started again.
TEST(Optimize, SurvivesACrashAtEveryBoundary) {
  Scene undisturbed;
  const auto expected = undisturbed.optimize(7);
  ASSERT_TRUE(expected) << expected.error().what;
  const int boundaries = undisturbed.world.boundary;
  ASSERT_GT(boundaries, 20);
  for (int crash = 2; crash < boundaries; ++crash) {
    Scene scene;
    scene.world.at_boundary = [&] {
      if (scene.world.boundary == crash) throw Crash{};
    };
    EXPECT_THROW((void)scene.optimize(7), Crash);
    const auto result = resume(scene.setting());
    ASSERT_TRUE(result) << crash << ": " << result.error().what;
    scene.expect_sound();
    EXPECT_EQ(result->champion_hash, expected->champion_hash) << crash;
    EXPECT_EQ(scene.store.records.size(), undisturbed.store.records.size()) << crash;
    EXPECT_EQ(result->final->id, expected->final->id) << crash;
    EXPECT_EQ(scene.git({"rev-parse", "champion^{tree}"}), undisturbed.git({"rev-parse", "champion^{tree}"})) << crash;
    for (const auto& [request, times] : scene.world.judged) EXPECT_LE(times, 2) << crash;  // once more only what was not yet written down
  }
}

// The ledger does not know of the run, its repository is there.
TEST(Optimize, BeginsAnewARunThatWasKilledBeforeTheLedgerKnewOfIt) {
  Scene scene;
  scene.world.at_boundary = [&] {
    if (scene.world.boundary == 1) throw Crash{};
  };
  EXPECT_THROW((void)scene.optimize(7), Crash);
  ASSERT_TRUE(scene.store.runs.empty());
  ASSERT_TRUE(std::filesystem::exists(scene.setting().folder + "/repo"));
  EXPECT_EQ(resume(scene.setting()).error().what,
            scene.setting().folder + ": the ledger has no run 'r1'; if it was killed before it had begun, 'whet optimize' begins it, else another ledger has it (--ledger)");
  const auto result = scene.optimize(7);
  ASSERT_TRUE(result) << result.error().what;
  scene.expect_sound();
  EXPECT_EQ(scene.optimize(7).error().what, "there is a run 'r1' already; 'whet resume' goes on with it, or choose another name");
  scene.store.runs.clear();  // as another ledger would be
  EXPECT_EQ(scene.optimize(7).error().what, scene.setting().folder + ": a run is there already; resume it or choose another folder");
}

TEST(Optimize, CommitsWhatTheLedgerHasAndGitLacks) {
  Scene scene;
  scene.world.at_boundary = [&] {
    if (scene.world.boundary == 10) throw Crash{};  // after the second record was written, before its commit
  };
  EXPECT_THROW((void)scene.optimize(30), Crash);
  ASSERT_EQ(scene.store.records.size(), 2u);
  EXPECT_EQ(scene.git({"for-each-ref", "refs/whet/candidates"}), "");
  const auto result = resume(scene.setting());
  ASSERT_TRUE(result) << result.error().what;
  const std::string hash = scene.store.records[1].evaluation.solution_hash;
  EXPECT_NE(scene.git({"for-each-ref", "refs/whet/candidates/" + hash}), "");
}

TEST(Optimize, RetriesAnEvaluationThatDiesWithItsWorkerOnce) {
  {
    Scene scene;
    scene.world.die_in = 3;
    const auto result = scene.optimize(30);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(scene.world.workers, 2);
    scene.expect_sound();
  }
  Scene scene;
  scene.world.die_in = 3;
  scene.world.deaths = 2;
  const auto result = scene.optimize(30);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().blame, Blame::machine);
  EXPECT_THAT(result.error().what, HasSubstr("the worker failed twice on the same evaluation: the worker died of signal 9"));
  const auto resumed = resume(scene.setting());
  ASSERT_TRUE(resumed) << resumed.error().what;
  scene.expect_sound();
}

// What the machine fails is no answer: with it the Agent would go round in circles.
TEST(Optimize, AProcessThatWasKilledIsNoAnswer) {
  Scene undisturbed;
  const auto expected = undisturbed.optimize(30);
  for (const int failures : {1, 2}) {
    Scene scene;
    scene.world.at_boundary = [&] {
      if (scene.world.boundary == 20) scene.world.machine_failures = failures;
    };
    auto result = scene.optimize(30);
    EXPECT_EQ(result.has_value(), failures == 1);
    if (!result) {
      EXPECT_EQ(result.error().blame, Blame::machine);
      EXPECT_EQ(result.error().what, "the machine failed twice on the same evaluation; killed from outside");
      result = resume(scene.setting());
    }
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->champion_hash, expected->champion_hash);
    for (const JudgedRecord& record : scene.store.records) EXPECT_NE(record.evaluation.verdict.code, Code::machine_failed);
    scene.expect_sound();
  }
}

TEST(Optimize, RefusesBadInputBeforeItWritesAnything) {
  const auto expect_refused = [](Files files, OptimizeOptions options, const std::string& what) {
    Scene scene;
    const auto result = optimize(files, options, scene.setting());
    ASSERT_FALSE(result) << what;
    EXPECT_EQ(result.error().blame, Blame::input);
    EXPECT_THAT(result.error().what, HasSubstr(what));
    EXPECT_TRUE(scene.store.runs.empty());
    EXPECT_FALSE(std::filesystem::exists(scene.setting().folder));
  };
  Files files = scripted::task_files();
  expect_refused(files, {.agent = "oracle"}, "unknown agent 'oracle'");
  expect_refused(files, {.set = "large"}, "has no set 'large'");
  std::string& choices = files.at("solutions/start/choices.h");
  const std::string good = choices;
  choices = "inline constexpr int kAlphaPath = 3;  // whet:tune {0, 1, 2} family=alpha\n";
  expect_refused(files, {}, "choices.h:1: kAlphaPath: expected one of {0, 1, 2}, found 3");
  choices = "inline constexpr int kAlphaPath = 1;  // whet:tune {0, 1, 2} family=gamma\n";
  expect_refused(files, {}, "choices.h:1: kAlphaPath: no workload of the task is of family 'gamma'");
  choices = "inline constexpr int kAlphaPath = 1;\n";
  expect_refused(files, {}, "declares no choice");
  choices = good + "whet:tune\n";
  expect_refused(files, {}, "choices.h:8: malformed choice");
}

TEST(Optimize, TakesATaskAsTaskNewWritesIt) {
  const Files files = *new_task("mine");
  const Task task = *load_task(files, "");
  const auto agent = make_agent("tuner", {.task = &task, .start = solution_files(files, task.start)});
  EXPECT_TRUE(agent) << agent.error().what;
}

TEST(Optimize, OneProcessDrivesARun) {
  Scene scene;
  std::string complaint;
  scene.world.at_boundary = [&] {
    if (scene.world.boundary != 5) return;
    const auto second = resume(scene.setting());
    complaint = second ? "" : second.error().what;
  };
  ASSERT_TRUE(scene.optimize(10));
  EXPECT_THAT(complaint, HasSubstr("another whet process is driving this run"));
}

TEST(Optimize, OptionsSurviveTheLedger) {
  OptimizeOptions options{.agent = "tuner", .set = "smoke", .seed = 7, .stop_at_goal = true};
  options.budget = {.tokens = {1e6, 2e6}, .dollars = {.hard = 3}, .steps = {.soft = 5}};
  options.final.max_draws = 12;
  options.final.solution.name = kChampion;
  const auto back = optimize_options_from_json(to_json(options), "options");
  ASSERT_TRUE(back) << back.error().what;
  EXPECT_EQ(back->budget, options.budget);
  EXPECT_EQ(back->final, options.final);
  EXPECT_EQ(back->seed, 7u);
  EXPECT_EQ(back->set, "smoke");
  EXPECT_TRUE(back->stop_at_goal);
}

}  // namespace
}  // namespace whet
