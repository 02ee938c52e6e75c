// SPDX-License-Identifier: Apache-2.0
// From the command line through the real worker and back, on the two smallest workloads there are.
#include <csignal>
#include <unistd.h>

#include "base/json_impl.h"
#include "tests/cli/run_whet.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

// For a workload; with a sanitizer the judge needs longer for as many samples.
#ifdef WHET_SANITIZED
constexpr const char* kSeconds = "2";
#else
constexpr const char* kSeconds = "0.2";
#endif

class Judging : public WhetTest {
 protected:
  Json result(const std::string& file) {
    auto json = parse_json(read(file), file);
    EXPECT_TRUE(json) << json.error().what;
    return json ? *json : Json::object();
  }
  static bool read_one(int descriptor, char& byte) { return ::read(descriptor, &byte, 1) == 1; }
  // The ids in the ledger, newest first.
  std::vector<std::string> ids() {
    std::vector<std::string> found;
    std::istringstream in(whet({"ledger", "list", "--ledger", "l.db"}).out);
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("e")) found.push_back(line.substr(0, line.find(' ')));
    return found;
  }
};

TEST_F(Judging, EvaluateShowExportCheckAndRecheck) {
  const ProcessResult judged =
      whet({"evaluate", "rmsnorm-cpu", "start", "--set", "smoke", "--seconds", kSeconds, "--json", "r.json", "--ledger", "l.db", "--cache", "c"}, 280);
  ASSERT_TRUE(judged.exit_code == 0 || judged.exit_code == 1) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("Scoreboard"));
  EXPECT_THAT(judged.out, HasSubstr("Re-measure with: whet recheck e"));

  const Json json = result("r.json");
  const Json& board = json["scoreboard"];
  for (const char* key : {"workloads_total", "workloads_correct", "at_par", "geomean_vs_fastest", "geomean_vs", "geomean_correct_only", "worst", "by_family", "goal", "goal_met"})
    EXPECT_TRUE(board.contains(key)) << key;
  EXPECT_EQ(board["workloads_total"], 2);
  EXPECT_EQ(board["workloads_correct"], 2) << judged.out;
  for (const char* key : {"value", "low", "high"}) EXPECT_TRUE(board["geomean_vs_fastest"].contains(key)) << board.dump();
  EXPECT_EQ(judged.exit_code, board["goal_met"].get<bool>() ? 0 : 1) << "the exit code says whether the goal is met";

  const std::string id = json["evaluation"];
  EXPECT_EQ(ids(), std::vector<std::string>{id});
  EXPECT_THAT(whet({"ledger", "show", id.substr(0, 8), "--ledger", "l.db"}).out, HasSubstr("secret of the draws"));
  EXPECT_EQ(whet({"ledger", "export", id, "--format", "csv", "--out", "s.csv", "--ledger", "l.db"}).exit_code, 0);
  EXPECT_THAT(read("s.csv"), HasSubstr(id));
  EXPECT_EQ(whet({"ledger", "export", "--format", "trace", "--out", "t.jsonl", "--ledger", "l.db"}).exit_code, 0);
  EXPECT_THAT(read("t.jsonl"), HasSubstr("PASSED"));
  EXPECT_THAT(whet({"ledger", "check", "--ledger", "l.db"}).out, HasSubstr("1 Evaluations, 0 runs, sound"));

  const ProcessResult reused =
      whet({"evaluate", "rmsnorm-cpu", "start", "--set", "smoke", "--seconds", kSeconds, "--ledger", "l.db", "--cache", "c"});
  EXPECT_THAT(reused.out, HasSubstr("The ledger has exactly this judgement"));

  const ProcessResult again = whet({"recheck", id, "--ledger", "l.db", "--cache", "c", "--json", "again.json"}, 280);
  EXPECT_TRUE(again.exit_code == 0 || again.exit_code == 1) << again.out << again.err;
  EXPECT_EQ(result("again.json")["recheck"]["of"], id);
  EXPECT_EQ(ids().size(), 2u) << "and the fresh one is in the ledger";
}

TEST_F(Judging, ASolutionThatDoesNotCompileIsJudgedNotAnError) {
  std::filesystem::copy(std::string(WHET_SOURCE_DIR) + "/tasks/rmsnorm-cpu/solutions/simple", folder() / "mine");
  write("mine/entry.cc", "#include \"whet/candidate.h\"\nthis is not C++\n");
  const ProcessResult judged = whet({"evaluate", "rmsnorm-cpu", "./mine", "--set", "smoke", "--ledger", "l.db", "--cache", "c", "--json", "r.json"}, 280);
  EXPECT_EQ(judged.exit_code, 1) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("compile_failed"));
  const Json board = result("r.json")["scoreboard"];
  EXPECT_TRUE(board["geomean_vs_fastest"].is_null()) << "no geomean unless all workloads are correct";
  EXPECT_EQ(board["workloads_correct"], 0);
  EXPECT_EQ(board["goal_met"], false);
}

TEST_F(Judging, JsonToStandardOutputIsNothingButJson) {
  const ProcessResult judged =
      whet({"evaluate", "rmsnorm-cpu", "start", "--set", "smoke", "--seconds", "0.1", "--json", "-", "--ledger", "l.db", "--cache", "c"}, 280);
  const auto json = parse_json(judged.out, "stdout");
  ASSERT_TRUE(json) << json.error().what;
  EXPECT_TRUE(json->contains("scoreboard"));
  EXPECT_THAT(judged.err, ::testing::Not(HasSubstr("\x1b"))) << "plain lines where there is no terminal";
}

TEST_F(Judging, CtrlCEndsARunCleanlyAndResumeFinishesIt) {
  ProcessSpec spec = spec_of({"optimize", "rmsnorm-cpu", "--minutes", "10", "--run", "./r", "--ledger", "l.db", "--cache", "c"});
  auto process = Process::start(spec, Process::Stderr::pipe);
  ASSERT_TRUE(process) << process.error().what;
  // Its first line says that it has begun; the handlers are in place by then.
  char byte = 0;
  while (read_one(process->err().get(), byte) && byte != '\n') {
  }
  process->signal(SIGINT);
  std::string rest;
  while (read_one(process->err().get(), byte)) rest += byte;
  const auto end = process->wait(std::chrono::seconds(60));
  ASSERT_TRUE(end && end->has_value()) << "still there a minute after Ctrl-C";
  EXPECT_EQ((*end)->exit_code, 130) << rest;
  EXPECT_THAT(whet({"ledger", "check", "--ledger", "l.db"}).out, HasSubstr("1 runs, sound"));
  EXPECT_THAT(whet({"ledger", "list", "--runs", "--ledger", "l.db"}).out, HasSubstr("stopped"));
}

TEST_F(Judging, OptimizeLeavesARunAndAResult) {
  const ProcessResult run = whet({"optimize", "rmsnorm-cpu", "--steps", "2", "--run", "./r", "--ledger", "l.db", "--cache", "c", "--json", "r.json"}, 280);
  ASSERT_TRUE(run.exit_code == 0 || run.exit_code == 1) << run.out << run.err;
  const Json json = result("r.json");
  EXPECT_EQ(json["run"]["id"], "r");
  EXPECT_EQ(json["scoreboard"]["workloads_total"], 4);
  EXPECT_FALSE(json["scoreboard"]["geomean_vs"].contains("start")) << "the start is no baseline of the task";
  EXPECT_THAT(run.out, HasSubstr("whet recheck " + json["evaluation"].get<std::string>()));
  EXPECT_TRUE(std::filesystem::exists(folder() / "r/repo"));
  EXPECT_THAT(whet({"resume", "./r", "--ledger", "l.db", "--cache", "c"}, 280).out, HasSubstr("Run r")) << "of a run that has ended it gives the result";
}

TEST_F(Judging, MachineTellsItsFacts) {
  const ProcessResult machine = whet({"machine", "--cache", "c", "--json", "m.json"});
  EXPECT_EQ(machine.exit_code, 0) << machine.err;
  EXPECT_FALSE(machine.out.empty());
  EXPECT_TRUE(result("m.json").is_object());
}

}  // namespace
}  // namespace whet
