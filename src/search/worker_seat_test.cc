// SPDX-License-Identifier: Apache-2.0
#include "search/worker_seat.h"

#include <gmock/gmock.h>

#include <deque>

#include "base/json_impl.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

Evaluation evaluation(Code candidate, Code baseline = Code::correct) {
  Evaluation evaluation;
  evaluation.id = "e1";
  evaluation.verdict.code = candidate;
  WorkloadResult result{.workload = "w"};
  for (const auto& [name, code] : {std::pair{"candidate", candidate}, std::pair{"simple", baseline}}) {
    Trial trial;
    trial.solution = name;
    trial.role = result.trials.empty() ? "candidate" : "baseline";
    trial.verdict.code = code;
    result.trials.push_back(std::move(trial));
  }
  evaluation.workloads.push_back(std::move(result));
  return evaluation;
}

// Answers one after the other; each worker that is opened gives at most one that is an Error, for then it is dead.
struct Answers {
  std::deque<Expected<Evaluation>> left;
  int workers = 0;
  std::function<void()> on_answer;

  class Client : public WorkerClient {
   public:
    explicit Client(Answers& answers) : answers_(answers) {}
    Expected<Json> call(const std::string& method, const Json&, const std::function<void(const Json&)>&) override {
      if (method != "evaluate") return Json{{"missing", Json::array()}};
      Expected<Evaluation> answer = answers_.left.front();
      answers_.left.pop_front();
      if (answers_.on_answer) answers_.on_answer();
      WHET_TRY(const Evaluation given, answer);
      return to_json(given);
    }
    void cancel() override {}
    int process_id() const override { return 1; }

   private:
    Answers& answers_;
  };

  Expected<Evaluation> evaluate(const Patience& patience = {}) {
    WorkerSeat seat([this]() -> Expected<std::unique_ptr<WorkerClient>> {
      ++workers;
      return std::make_unique<Client>(*this);
    });
    return seat.evaluate({}, {}, patience);
  }
};

TEST(WorkerSeat, OpensAnotherWorkerForWhatWasLostWithOne) {
  Answers answers{.left = {machine_failed("killed"), evaluation(Code::correct)}};
  EXPECT_TRUE(answers.evaluate());
  EXPECT_EQ(answers.workers, 2);
  answers = {.left = {machine_failed("killed"), machine_failed("killed again"), evaluation(Code::correct)}};
  EXPECT_THAT(answers.evaluate().error().what, HasSubstr("first: killed; then: killed again"));
}

TEST(WorkerSeat, DoesNotTryAgainWhatCouldNotBeOpenedAtAll) {
  int opened = 0;
  WorkerSeat seat([&]() -> Expected<std::unique_ptr<WorkerClient>> {
    ++opened;
    return machine_failed("no such host");
  });
  EXPECT_EQ(seat.evaluate({}, {}, {}).error().what, "no such host");
  EXPECT_EQ(opened, 1);
}

TEST(WorkerSeat, TriesAgainWhereTheMachineFailedASolution) {
  for (const auto& failed : {evaluation(Code::machine_failed), evaluation(Code::correct, Code::machine_failed)}) {
    Answers answers{.left = {failed, evaluation(Code::correct)}};
    const auto result = answers.evaluate();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(*result, evaluation(Code::correct));
    EXPECT_EQ(answers.workers, 1) << "the worker itself is well";
    answers.left = {failed, failed, evaluation(Code::correct)};
    EXPECT_EQ(*answers.evaluate(), failed) << "a machine that goes on failing is an outcome";
    answers.left = {failed, machine_failed("killed"), evaluation(Code::correct)};
    EXPECT_EQ(*answers.evaluate(), evaluation(Code::correct)) << "one does not use up the other's second chance";
  }
}

TEST(WorkerSeat, OtherOutcomesAreTakenAsTheyAre) {
  for (const Code code : {Code::crashed, Code::wrong, Code::reference_failed, Code::cancelled}) {
    Answers answers{.left = {evaluation(code), evaluation(Code::correct)}};
    EXPECT_EQ(answers.evaluate()->verdict.code, code);
  }
  Answers answers{.left = {bad_input("no such task"), evaluation(Code::correct)}};
  EXPECT_EQ(answers.evaluate().error().blame, Blame::input);
}

TEST(WorkerSeat, WhatFailedWhileTheUserStopsIsCancelled) {
  std::atomic<bool> stop{false};
  Answers answers{.left = {evaluation(Code::machine_failed), evaluation(Code::correct)},
                  .on_answer = [&] { stop = true; }};
  EXPECT_EQ(answers.evaluate({.stop = &stop})->verdict.code, Code::cancelled);
}

}  // namespace
}  // namespace whet
