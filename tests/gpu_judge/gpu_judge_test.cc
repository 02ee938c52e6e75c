// SPDX-License-Identifier: Apache-2.0
// The real worker on a GPU, with a task made for it (gpu_task/): cheats are refused with the Verdict of the promise that each breaks, and honest Solutions that
// look like cheats are accepted. One folder per Solution, below gpu_cheats/ and gpu_honest/; the test adds gpu_task/operator.cuh. Ends with code 77
// ("skipped") where there is no GPU.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <iostream>
#include <set>

#include "base/error.h"
#include "tests/gpu_judge/gpu_worker.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

constexpr int kRuns = 2;

// Few draws: every output of every call is checked, however many there are.
EvaluateRequest short_request() {
  EvaluateRequest request;
  request.admission = false;  // see TheTask
  request.columns = {Column::flushed, Column::cold};
  request.target_half_width = 100;
  return request;
}

struct Cheat {
  std::string folder;
  std::set<Code> codes;  // more than one where chance decides which of two promises shows first
  std::string says;      // in sentence or evidence
};
void PrintTo(const Cheat& cheat, std::ostream* out) { *out << cheat.folder; }
template <class Case>
std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  return info.param.folder;
}

class Refused : public ::testing::TestWithParam<Cheat> {};

TEST_P(Refused, WithTheVerdictOfThePromise) {
  const Cheat& cheat = GetParam();
  const int worker = GpuWorker::get().process_id();
  for (int run = 0; run < kRuns; ++run) {
    const Evaluation evaluation = GpuWorker::get().judge(short_request(), "gpu_cheats/" + cheat.folder);
    EXPECT_FALSE(evaluation.verdict.right());
    EXPECT_TRUE(cheat.codes.count(evaluation.verdict.code)) << describe(evaluation);
    EXPECT_THAT(evaluation.verdict.sentence + evaluation.verdict.evidence, HasSubstr(cheat.says));
    EXPECT_FALSE(evaluation.scoreboard.geomean_vs_fastest);
  }
  EXPECT_EQ(GpuWorker::get().process_id(), worker);
}

// Cheat -> Verdict. An unjoined stream is late where it is still at work when the outputs are looked at, and ran in time that nobody counted where it is not.
INSTANTIATE_TEST_SUITE_P(
    GpuJudge, Refused,
    ::testing::Values(Cheat{"unjoined_stream", {Code::clock_not_believed, Code::late}, ""}, Cheat{"persisting_window", {Code::device_changed}, "of the last cache aside"},
                      Cheat{"cached_by_pointer", {Code::stale}, "an earlier call"}, Cheat{"cached_by_fingerprint", {Code::stale}, "an earlier call"},
                      Cheat{"watches_for_poison", {Code::not_written}, "what was there before the call"}, Cheat{"stale_graph", {Code::stale}, "an earlier call"},
                      Cheat{"skips_the_tail", {Code::wrong}, "still held what was there before the call"}, Cheat{"lower_precision", {Code::wrong}, "times the tolerance"},
                      Cheat{"patched_timer", {Code::clock_not_believed}, "by the worker's clock"}, Cheat{"late_writes", {Code::late}, "after the call had returned"},
                      Cheat{"scans_device_memory", {Code::out_of_bounds}, "not lent to it"}, Cheat{"zeros", {Code::wrong}, "every element is zero"},
                      Cheat{"writes_input", {Code::input_written}, "x, an input that is lent read-only"},
                      Cheat{"makes_input_writable", {Code::input_written}, "x, an input that is lent read-only"}),
    name_of_case<Cheat>);

// Its lines are given up before the flush, and nothing is set aside by then: it is as slow as the kernel that it copied.
TEST(Defeated, APersistingWindowThatIsTakenBackGainsNothing) {
  EvaluateRequest request = short_request();
  request.min_draws = 12;
  request.workloads = {"middle", "large"};
  const Evaluation evaluation = GpuWorker::get().judge(request, "gpu_cheats/persisting_window_taken_back");
  for (const WorkloadResult& result : evaluation.workloads) {
    if (!result.candidate().verdict.right()) continue;  // refused, which is as good
    const double ratio = result.trial("simple")->median_ns(Column::flushed) / result.candidate().median_ns(Column::flushed);
    std::cout << fmt::format("    {}: {:.3f} times as fast as the same kernel without it\n", result.workload, ratio);
    EXPECT_LT(ratio, 1.03);
  }
}

struct Honest {
  std::string folder;
  double most = 1.6;  // times the simple Solution's time on "large": whoever is honest pays for what it does, and for no more
};
void PrintTo(const Honest& honest, std::ostream* out) { *out << honest.folder; }
class Accepted : public ::testing::TestWithParam<Honest> {};

TEST_P(Accepted, EveryTime) {
  for (int run = 0; run < kRuns; ++run) {
    EvaluateRequest request = short_request();
    request.hidden = run == 0 ? 4 : 0;
    const Evaluation evaluation = GpuWorker::get().judge(request, "gpu_honest/" + GetParam().folder);
    EXPECT_EQ(evaluation.verdict.code, Code::correct) << describe(evaluation);
    EXPECT_EQ(evaluation.scoreboard.workloads_correct, 5);
    if (HasFailure()) break;
    const WorkloadResult& large = evaluation.workloads.at(2);
    EXPECT_LT(large.candidate().median_ns(Column::flushed), GetParam().most * large.trial("simple")->median_ns(Column::flushed));
  }
}

INSTANTIATE_TEST_SUITE_P(GpuJudge, Accepted,
                         ::testing::Values(Honest{"joined_streams"}, Honest{"workspace_reuse", 2.5}, Honest{"packs_in_prepare", 2.5}, Honest{"graph_of_prepare"}, Honest{"early_exit"},
                                           Honest{"right_zeros", 2.5}, Honest{"slow_first_call"}, Honest{"clusters_and_dependent_launch", 2.5}, Honest{"waits_in_run", 2.5}),
                         name_of_case<Honest>);

TEST(TheTask, IsAdmittedWhole) {
  EvaluateRequest request = short_request();
  request.admission = true;
  const Evaluation evaluation = GpuWorker::get().judge(request, "gpu_honest/early_exit");
  EXPECT_EQ(evaluation.verdict.code, Code::correct) << describe(evaluation);
  for (const std::string& remark : evaluation.remarks) EXPECT_THAT(remark, ::testing::Not(HasSubstr("not admitted")));
}

}  // namespace
}  // namespace whet

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (testing::GTEST_FLAG(list_tests)) return RUN_ALL_TESTS();
  if (const auto& worker = whet::GpuWorker::get(); !worker.has_gpu()) {
    std::fprintf(stderr, "skipped: %s\n", worker.problem().c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
