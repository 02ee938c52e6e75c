// SPDX-License-Identifier: Apache-2.0
// The real worker on a task made for it (judge_task/): cheats are refused with the Verdict of the promise that each breaks, honest Solutions
// that look like cheats are accepted, and whatever a Solution does to its process, the worker goes on. One folder per Solution, below cheats/,
// honest/ and conduct/; the test adds judge_task/operator.h, and a solution.json where the folder has none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "record/request.h"
#include "wire/client.h"

namespace whet {
namespace {

using ::testing::HasSubstr;
using Files = std::map<std::string, std::string>;

const std::filesystem::path kTests = std::filesystem::path(WHET_SOURCE_DIR) / "tests";

Files read_folder(const std::filesystem::path& folder) {
  auto files = read_tree(folder);
  if (!files) ADD_FAILURE() << files.error().what;
  return files ? *files : Files{};
}

Files task_files() {
  Files files = read_folder(kTests / "judge_task");
  const std::string shared = files["operator.h"];
  files.erase("operator.h");
  for (const char* name : {"simple", "start"}) files[std::string("solutions/") + name + "/operator.h"] = shared;
  return files;
}

Files solution_files(const std::string& folder) {
  Files files = read_folder(kTests / folder);
  files["operator.h"] = read_folder(kTests / "judge_task")["operator.h"];
  if (files.count("solution.json")) return files;
  const Json json = {{"name", std::filesystem::path(folder).filename().string()},
                     {"author", "whet"},
                     {"description", ""},
                     {"definition", "weighted_average"},
                     {"spec",
                      {{"language", "cpp"},
                       {"target_hardware", {"cpu"}},
                       {"entry_point", "entry.cc::whet_solution_v1"},
                       {"dependencies", Json::array()},
                       {"destination_passing_style", true},
                       {"binding", "whet"},
                       {"compile_options", {{"cflags", {"-O2", "-march=native", "-fopenmp"}}, {"ld_flags", Json::array()}}}}},
                     {"sources", {"*.h", "*.cc"}},
                     {"whet", {{"definitions", {"weighted_average"}}}}};
  files["solution.json"] = json.dump();
  return files;
}

// One worker for all tests of this program: what one Solution does to it would show in the next.
class Worker {
 public:
  static Worker& get() {
    static Worker worker;
    return worker;
  }

  Evaluation judge(EvaluateRequest request, const std::string& folder) {
    request.task = send(task_files());
    request.solution = {std::filesystem::path(folder).filename(), send(solution_files(folder))};
    request.noise_floor = false;
    request.target_half_width = 100;  // no more draws than the least
    if (!client_) return {};
    auto answer = client_->call("evaluate", to_json(request));
    if (!answer) {
      ADD_FAILURE() << folder << ": " << answer.error().what;
      return {};
    }
    auto evaluation = evaluation_from_json(*answer, folder);
    if (!evaluation) ADD_FAILURE() << evaluation.error().what;
    return evaluation ? *evaluation : Evaluation{};
  }
  int process_id() const { return client_ ? client_->process_id() : -1; }

 private:
  Worker() {
    WorkerOptions options;
    options.program_folder = WHET_BINARY_DIR "/bin";
    options.cache_folder = WHET_BINARY_DIR "/judge_test_cache";
    options.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
    auto client = open_worker(options);
    if (client) client_ = std::move(*client);
    else ADD_FAILURE() << client.error().what;
  }
  Manifest send(const Files& files) {
    Manifest manifest;
    Files blobs;
    for (const auto& [path, contents] : files) blobs[manifest[path] = sha256_hex(contents)] = contents;
    if (client_)
      if (auto status = client_->put_blobs(blobs); !status) ADD_FAILURE() << status.error().what;
    return manifest;
  }

  std::unique_ptr<WorkerClient> client_;
};

std::string describe(const Evaluation& evaluation) {
  std::string text = fmt::format("{} {}: {}\n{}\n", static_cast<int>(evaluation.verdict.code), name_of(evaluation.verdict.code), evaluation.verdict.sentence,
                                 evaluation.verdict.evidence.substr(0, 2000));
  for (const WorkloadResult& result : evaluation.workloads)
    text += fmt::format("  {}: {} {}\n", result.workload, static_cast<int>(result.candidate().verdict.code), result.candidate().verdict.sentence);
  for (const std::string& remark : evaluation.remarks) text += "  " + remark + "\n";
  return text;
}

void print_row(const std::string& folder, const std::string& codes, const std::string& sentence) {
  std::cout << fmt::format("{:36} {}  {}\n", folder, codes, sentence.substr(0, 160));
}

constexpr int kRuns = 5;

struct Cheat {
  std::string folder;
  Code code;
  std::string says;  // in sentence or evidence
};
void PrintTo(const Cheat& cheat, std::ostream* out) { *out << cheat.folder; }
template <class Case>
std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  return info.param.folder;
}

class Refused : public ::testing::TestWithParam<Cheat> {};

TEST_P(Refused, IsRefusedWithTheVerdictOfThePromise) {
  const Cheat& cheat = GetParam();
  int as_expected = 0;
  std::string codes, last;
  for (int run = 0; run < kRuns; ++run) {
    EvaluateRequest request;
    request.admission = false;  // see TheTask
    const Evaluation evaluation = Worker::get().judge(request, "cheats/" + cheat.folder);
    const Verdict& verdict = evaluation.verdict;
    EXPECT_FALSE(verdict.right()) << describe(evaluation);
    as_expected += verdict.code == cheat.code;
    codes += fmt::format("{} ", static_cast<int>(verdict.code));
    last = describe(evaluation);
    if (verdict.code == cheat.code) {
      EXPECT_THAT(verdict.sentence + verdict.evidence, HasSubstr(cheat.says));
    }
  }
  EXPECT_GE(as_expected, kRuns - 1) << last;
  print_row("cheats/" + cheat.folder, codes, last.substr(0, last.find('\n')));
}

INSTANTIATE_TEST_SUITE_P(Judge, Refused,
                         ::testing::Values(Cheat{"cached_by_pointer", Code::stale, "an earlier call"}, Cheat{"cached_by_fingerprint", Code::stale, "an earlier call"},
                                           Cheat{"first_call_only", Code::not_written, "what was there before the call"}, Cheat{"zeros", Code::wrong, "every element is zero"},
                                           Cheat{"ignores_k", Code::wrong, "times the tolerance"}, Cheat{"late_writes", Code::late, ""},
                                           Cheat{"writes_input", Code::input_written, "an input that is lent read-only"},
                                           Cheat{"writes_input_through_proc", Code::wrong, ""}, Cheat{"reads_past_the_end", Code::out_of_bounds, "bytes outside"},
                                           Cheat{"writes_past_the_end", Code::out_of_bounds, "the output o"}, Cheat{"opens_a_socket", Code::escaped, "socket"},
                                           Cheat{"forks", Code::escaped, ""}, Cheat{"skips_the_last_row", Code::wrong, "still held what was there before the call"},
                                           Cheat{"lower_precision", Code::wrong, "times the tolerance"}),
                         name_of_case<Cheat>);

// Part of every input is put in place just before the call: what was computed earlier is wrong. Where the machine was so busy that the thread had its
// time after that, it has computed within the time that is measured, and may be right.
TEST(Cheats, ComputingBetweenCallsGainsNothing) {
  std::string codes;
  for (int run = 0; run < kRuns; ++run) {
    EvaluateRequest request;
    request.admission = false;
    request.workloads = {"middle"};
    const Evaluation evaluation = Worker::get().judge(request, "cheats/computes_between_calls");
    codes += fmt::format("{} ", static_cast<int>(evaluation.verdict.code));
    if (evaluation.verdict.right()) {
      const WorkloadResult& result = evaluation.workloads.front();
      EXPECT_GT(result.candidate().median_ns(Column::flushed), 0.5 * result.trial("simple")->median_ns(Column::flushed)) << describe(evaluation);
    } else {
      EXPECT_THAT(evaluation.verdict.code, ::testing::AnyOf(Code::wrong, Code::stale)) << describe(evaluation);
    }
  }
  print_row("cheats/computes_between_calls", codes, "");
}

// Right on every workload that the task lists: only shapes that it cannot know tell.
TEST(Cheats, KnowingTheShapesIsNotEnough) {
  std::string codes;
  for (int run = 0; run < kRuns; ++run) {
    EvaluateRequest request;
    request.admission = false;
    const Evaluation listed = Worker::get().judge(request, "cheats/knows_the_shapes");
    EXPECT_EQ(listed.verdict.code, Code::correct) << describe(listed);
    request.hidden = 6;
    const Evaluation evaluation = Worker::get().judge(request, "cheats/knows_the_shapes");
    EXPECT_EQ(evaluation.verdict.code, Code::wrong) << describe(evaluation);
    EXPECT_THAT(evaluation.verdict.sentence, HasSubstr("a hidden workload (weighted_average, rows "));
    EXPECT_EQ(evaluation.scoreboard.workloads_correct, 4);
    EXPECT_FALSE(evaluation.scoreboard.geomean_vs_fastest);
    EXPECT_FALSE(evaluation.scoreboard.goal_met);
    codes += fmt::format("{} ", static_cast<int>(evaluation.verdict.code));
  }
  print_row("cheats/knows_the_shapes", codes, "");
}

// And an honest one meets shapes it was never tried on.
TEST(Hidden, AnHonestSolutionIsRightOnThemToo) {
  EvaluateRequest request;
  request.admission = false;
  request.hidden = 24;
  const Evaluation evaluation = Worker::get().judge(request, "honest/early_exit");
  EXPECT_EQ(evaluation.verdict.code, Code::correct) << describe(evaluation);
  EXPECT_EQ(evaluation.hidden.size(), 24U);
}

struct Honest {
  std::string folder;
};
void PrintTo(const Honest& honest, std::ostream* out) { *out << honest.folder; }
class Accepted : public ::testing::TestWithParam<Honest> {};

TEST_P(Accepted, EveryTime) {
  std::string codes;
  for (int run = 0; run < kRuns; ++run) {
    EvaluateRequest request;
    request.admission = false;
    const Evaluation evaluation = Worker::get().judge(request, "honest/" + GetParam().folder);
    EXPECT_EQ(evaluation.verdict.code, Code::correct) << describe(evaluation);
    EXPECT_EQ(evaluation.scoreboard.workloads_correct, 4);
    if (HasFailure()) break;
    codes += fmt::format("{} ", static_cast<int>(evaluation.verdict.code));
  }
  print_row("honest/" + GetParam().folder, codes, "");
}

INSTANTIATE_TEST_SUITE_P(Judge, Accepted,
                         ::testing::Values(Honest{"packs_in_prepare"}, Honest{"openmp_pool"}, Honest{"workspace_reuse"}, Honest{"early_exit"}, Honest{"right_zeros"},
                                           Honest{"slow_first_call"}, Honest{"own_thread_pool"}),
                         name_of_case<Honest>);

struct Conduct {
  std::string folder;
  std::set<Code> codes;
  std::string says;
  double call_limit_seconds = 10;
};
void PrintTo(const Conduct& conduct, std::ostream* out) { *out << conduct.folder; }
class Conducts : public ::testing::TestWithParam<Conduct> {};

TEST_P(Conducts, HasItsVerdictAndTheWorkerGoesOn) {
  const Conduct& conduct = GetParam();
  const int worker = Worker::get().process_id();
  EvaluateRequest request;
  request.admission = false;
  request.call_limit_seconds = conduct.call_limit_seconds;
  request.workloads = {"tiny"};
  const auto begin = std::chrono::steady_clock::now();
  const Evaluation evaluation = Worker::get().judge(request, "conduct/" + conduct.folder);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_TRUE(conduct.codes.count(evaluation.verdict.code)) << describe(evaluation);
  EXPECT_THAT(evaluation.verdict.sentence + evaluation.verdict.evidence, HasSubstr(conduct.says)) << describe(evaluation);
  EXPECT_LT(evaluation.verdict.evidence.size(), 256u << 10);
  print_row("conduct/" + conduct.folder, fmt::format("{} ({:.1f} s)", static_cast<int>(evaluation.verdict.code), seconds), evaluation.verdict.sentence);

  const Evaluation next = Worker::get().judge(EvaluateRequest{.workloads = {"tiny", "sparse"}, .admission = false}, "honest/early_exit");
  EXPECT_EQ(next.verdict.code, Code::correct) << describe(next);
  EXPECT_EQ(Worker::get().process_id(), worker);
}

INSTANTIATE_TEST_SUITE_P(
    Judge, Conducts,
    ::testing::Values(Conduct{"null_pointer", {Code::crashed}, "signal 11"}, Conduct{"crash_in_thread", {Code::crashed}, "signal 11"},
                      Conduct{"deep_recursion", {Code::crashed}, "signal 11"}, Conduct{"division_by_zero", {Code::crashed}, "signal 8"},
                      Conduct{"aborts", {Code::crashed}, "signal 6"}, Conduct{"throws", {Code::crashed}, "through the C ABI"}, Conduct{"exits", {Code::exited}, "exit code 0"},
                      Conduct{"endless_loop", {Code::hung}, "300 ms", 0.3}, Conduct{"fork_bomb", {Code::escaped}, ""}, Conduct{"thread_bomb", {Code::memory_exceeded, Code::tasks_exceeded}, "threads"},
                      Conduct{"memory_bomb", {Code::memory_exceeded}, "memory", 120}, Conduct{"huge_workspace", {Code::memory_exceeded}, "workspace"},
                      Conduct{"returns_an_error", {Code::returned_error}, "42: this shape is beyond me"}, Conduct{"no_entry", {Code::entry_missing}, "whet_solution_v1"},
                      Conduct{"undefined_symbol", {Code::link_failed}, "nowhere_to_be_found"}, Conduct{"other_definition", {Code::definition_missing}, "median"},
                      Conduct{"other_abi", {Code::abi_mismatch}, "ABI version 1"}, Conduct{"endless_errors", {Code::compile_failed}, "declared_nowhere"},
                      Conduct{"refused_flag", {Code::flag_refused}, "-fplugin"}, Conduct{"prints_much", {Code::correct}, ""}),
    name_of_case<Conduct>);

TEST(TheTask, IsAdmittedWhole) {
  const Evaluation evaluation = Worker::get().judge(EvaluateRequest{}, "honest/early_exit");
  EXPECT_EQ(evaluation.verdict.code, Code::correct) << describe(evaluation);
  for (const std::string& remark : evaluation.remarks) EXPECT_THAT(remark, ::testing::Not(HasSubstr("not admitted")));
}

}  // namespace
}  // namespace whet
