// SPDX-License-Identifier: Apache-2.0
#include "search/attempt.h"

#include <gmock/gmock.h>

#include "search/scripted_judge_test.h"
#include "task/load.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

TEST(Attempt, TakesTheEditableFilesAndNothingElse) {
  const Task task{.editable = {"choices.h", "*.cc"}};
  const Files start = {{"solution.json", "start"}, {"choices.h", "start"}, {"old.cc", "start"}, {"fixed.h", "start"}};
  const Files candidate = {{"solution.json", "changed"}, {"choices.h", "changed"}, {"new.cc", "new"}, {"deep/new.cc", "new"}, {"notes.txt", "new"}};
  EXPECT_EQ(take_editable(task, start, candidate),
            (Files{{"solution.json", "start"}, {"choices.h", "changed"}, {"fixed.h", "start"}, {"new.cc", "new"}}));
}

struct Door : ::testing::Test {
  scripted::World world;
  scripted::MemoryStore store{world};
  WorkerSeat worker{scripted::open_worker(world)};
  TaskFolder task{*load_task(scripted::task_files(), ""), scripted::task_files()};
};

TEST_F(Door, JudgesTheSameRequestOnceUnlessToldOtherwise) {
  Attempt what{.solution = {"start", {}}};
  const auto first = attempt(task, what, worker, store);
  ASSERT_TRUE(first) << first.error().what;
  EXPECT_FALSE(first->reused);
  const auto second = attempt(task, what, worker, store);
  ASSERT_TRUE(second);
  EXPECT_TRUE(second->reused);
  EXPECT_EQ(second->judged.evaluation, first->judged.evaluation);
  EXPECT_EQ(world.evaluations, 1);
  what.settings.max_draws = 41;
  EXPECT_FALSE(attempt(task, what, worker, store)->reused);
  what.reuse = false;
  EXPECT_FALSE(attempt(task, what, worker, store)->reused);
  EXPECT_EQ(world.evaluations, 3);
  EXPECT_EQ(store.records.size(), 3u);
}

TEST_F(Door, KeepsNothingOfACancelledEvaluation) {
  world.cancel_all = true;
  const auto attempted = attempt(task, {.solution = {"start", {}}}, worker, store);
  ASSERT_TRUE(attempted);
  EXPECT_TRUE(attempted->cancelled);
  EXPECT_TRUE(store.records.empty());
}

TEST_F(Door, NeverReusesWhatTheMachineFailed) {
  world.machine_failures = 2;
  const auto failed = attempt(task, {.solution = {"start", {}}}, worker, store);
  ASSERT_TRUE(failed) << failed.error().what;
  EXPECT_EQ(failed->judged.evaluation.verdict.code, Code::machine_failed) << "outside a run it is an outcome like others";
  const auto again = attempt(task, {.solution = {"start", {}}}, worker, store);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->reused);
  EXPECT_EQ(again->judged.evaluation.verdict.code, Code::correct);
}

TEST_F(Door, MeasuresAgainFromTheLedgerAlone) {
  Files mine = solution_files(task.files, "start");
  mine["choices.h"] = scripted::choices_source(2, 16, 2, 1, 32, 2);
  const auto first = attempt(task, {.solution = {"mine", mine}, .baselines = {{{"start", {}}}}}, worker, store);
  ASSERT_TRUE(first) << first.error().what;
  const auto again = measure_again(first->judged, worker, store);
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_EQ(again->judged.request.confirm_of, first->judged.evaluation.id);
  EXPECT_NE(again->judged.evaluation.id, first->judged.evaluation.id);
  EXPECT_EQ(again->judged.evaluation.solution_hash, first->judged.evaluation.solution_hash);
  EXPECT_EQ(store.records.back().purpose, Purpose::recheck);
}

TEST_F(Door, NamesWhatIsMissing) {
  const auto unknown = attempt(task, {.solution = {"nobody", {}}}, worker, store);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().what, "task 'rmsnorm-cpu' has no Solution 'nobody'");
  const auto broken = attempt(task, {.solution = {"mine", {{"solution.json", "{"}}}}, worker, store);
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().what, HasSubstr("mine/solution.json"));
}

TEST(Purpose, NamesAreReadBack) {
  for (Purpose purpose : {Purpose::evaluate, Purpose::baseline, Purpose::trial, Purpose::challenge, Purpose::confirm, Purpose::final, Purpose::compare,
                          Purpose::recheck})
    EXPECT_EQ(purpose_from_name(name_of(purpose)), purpose);
}

}  // namespace
}  // namespace whet
