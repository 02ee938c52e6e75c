// SPDX-License-Identifier: Apache-2.0
// What someone sees who typed something wrong: exact texts and exit codes.
#include <sys/stat.h>

#include "tests/cli/run_whet.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

class BadInput : public WhetTest {};

TEST_F(BadInput, UnknownCommand) {
  expect_refusal({"evalute", "x"}, 2, "whet: there is no command 'evalute'; did you mean 'evaluate'?; 'whet --help' lists them\n");
}

TEST_F(BadInput, UnknownCommandLikeNothing) {
  expect_refusal({"frobnicate"}, 2, "whet: there is no command 'frobnicate'; 'whet --help' lists them\n");
}

TEST_F(BadInput, GroupWithoutCommand) {
  expect_refusal({"ledger"}, 2, "whet: 'whet ledger' needs one more word: list, show, export and check\n");
}

TEST_F(BadInput, UnknownCommandOfAGroup) {
  expect_refusal({"task", "chekc", "x"}, 2, "whet: 'whet task' has no command 'chekc'; did you mean 'check'?; it has list, show, check, new and import\n");
}

TEST_F(BadInput, UnknownOption) {
  expect_refusal({"evaluate", "rmsnorm-cpu", "start", "--workloads", "a"}, 2,
                 "whet: evaluate: unknown option '--workloads'; did you mean '--workload'?\n      'whet evaluate --help' shows what it takes\n");
}

TEST_F(BadInput, MissingArgument) {
  expect_refusal({"evaluate", "rmsnorm-cpu"}, 2,
                 "whet: evaluate: SOLUTION is missing: a Solution's folder, or the name of one of the task's\n      'whet evaluate --help' shows what it takes\n");
}

TEST_F(BadInput, OneArgumentTooMany) {
  expect_refusal({"version", "now"}, 2, "whet: version: unexpected argument 'now'\n      'whet version --help' shows what it takes\n");
}

TEST_F(BadInput, OptionWithoutItsValue) {
  expect_refusal({"optimize", "rmsnorm-cpu", "--minutes"}, 2,
                 "whet: optimize: --minutes: expected a value after it, found none\n      'whet optimize --help' shows what it takes\n");
}

TEST_F(BadInput, MinutesThatAreNoNumber) {
  expect_refusal({"optimize", "rmsnorm-cpu", "--minutes", "soon"}, 2,
                 "whet: optimize: --minutes: expected a number from 0.05 to 10000, found 'soon'\n      'whet optimize --help' shows what it takes\n");
}

TEST_F(BadInput, StepsBelowOne) {
  expect_refusal({"optimize", "rmsnorm-cpu", "--steps", "0"}, 2,
                 "whet: optimize: --steps: expected a whole number, 1 or more, found '0'\n      'whet optimize --help' shows what it takes\n");
}

TEST_F(BadInput, UnknownAgent) {
  const ProcessResult result = whet({"optimize", "rmsnorm-cpu", "--agent", "tunner"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("tunner"));
  EXPECT_THAT(result.err, HasSubstr("tuner")) << "the known ones are listed";
}

TEST_F(BadInput, UnknownTask) {
  expect_refusal({"task", "show", "atention-cpu"}, 2,
                 "whet: there is no task 'atention-cpu'; did you mean 'attention-cpu'?; known are attention-cpu, attention-hopper and rmsnorm-cpu\n");
}

TEST_F(BadInput, TaskFolderThatIsNotThere) { expect_refusal({"task", "check", "no/such"}, 2, "whet: no/such: there is no such folder\n"); }

TEST_F(BadInput, FolderThatIsNoTask) {
  std::filesystem::create_directories(folder() / "some/where");
  expect_refusal({"task", "check", "some/where"}, 2,
                 "whet: some/where: there is no task.toml in this folder, so it is not a task; 'whet task new NAME' makes one\n");
}

TEST_F(BadInput, TaskTomlInsteadOfItsFolder) {
  write("t/task.toml", "");
  expect_refusal({"task", "check", "t/task.toml"}, 2, "whet: t/task.toml: name the task's folder, not its task.toml\n");
}

TEST_F(BadInput, UnknownSolution) {
  expect_refusal({"evaluate", "rmsnorm-cpu", "strat"}, 2,
                 "whet: the task has no Solution 'strat', and there is no such folder; did you mean 'start'?; it has reference, simple and start\n");
}

TEST_F(BadInput, FolderThatIsNoSolution) {
  std::filesystem::create_directories(folder() / "empty");
  expect_refusal({"evaluate", "rmsnorm-cpu", "./empty"}, 2, "whet: ./empty: there is no solution.json in this folder, so it is not a Solution\n");
}

TEST_F(BadInput, UnknownSet) {
  expect_refusal({"evaluate", "rmsnorm-cpu", "start", "--set", "smok"}, 2,
                 "whet: task rmsnorm-cpu has no set 'smok'; did you mean 'smoke'?; it has full and smoke\n");
}

TEST_F(BadInput, UnknownWorkload) {
  const ProcessResult result = whet({"evaluate", "rmsnorm-cpu", "start", "--workload", "decod"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("whet: task rmsnorm-cpu has no workload 'decod'"));
}

TEST_F(BadInput, WorkerElsewhere) {
  const std::string forms = "expected local:, local:/path/to/whet-worker or ssh://[user@]host[:port][/folder], found 'ssh:host'\n";
  expect_refusal({"machine", "--worker", "ssh:host"}, 2, "whet: --worker: " + forms);
  variables_ = {{"WHET_WORKER", "ssh:host"}};
  expect_refusal({"machine"}, 2, "whet: WHET_WORKER: " + forms);
  expect_refusal({"machine", "--worker", "ssh://gpu:0"}, 2, "whet: --worker: ssh://gpu:0: expected a port after the host, :1 to :65535, found ':0'\n");
  expect_refusal({"machine", "--worker", "ssh://gpu", "--cache", "c"}, 2,
                 "whet: --cache: with a worker at ssh://gpu expected an absolute folder over there, found 'c'\n");
  variables_ = {{"WHET_SSH", "ssh -F 'x"}};
  expect_refusal({"machine", "--worker", "ssh://gpu"}, 2, "whet: WHET_SSH: expected another ' that ends the quotation, found 'ssh -F 'x'\n");
}

TEST_F(BadInput, JsonIntoAFolderThatIsNotThere) {
  expect_refusal({"evaluate", "rmsnorm-cpu", "start", "--json", "no/such/result.json"}, 2, "whet: --json no/such/result.json: there is no folder no/such\n");
}

TEST_F(BadInput, JsonOntoAFolder) { expect_refusal({"machine", "--json", "."}, 2, "whet: --json .: expected a file, found a folder\n"); }

TEST_F(BadInput, LedgerThatIsNotThere) {
  const ProcessResult result = whet({"ledger", "list", "--ledger", "no.db"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "whet: no.db: there is no ledger; `whet evaluate` makes one, --ledger names another\n");
  EXPECT_FALSE(std::filesystem::exists(folder() / "no.db")) << "a look must not leave a file behind";
}

TEST_F(BadInput, LedgerThatIsNoDatabase) {
  write("text.db", std::string(5000, 'x'));
  const ProcessResult result = whet({"ledger", "list", "--ledger", "text.db"});
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("text.db"));
  EXPECT_EQ(read("text.db"), std::string(5000, 'x')) << "and is left as it was";
}

TEST_F(BadInput, LedgerThatIsAFolder) {
  const ProcessResult result = whet({"ledger", "list", "--ledger", "."});
  EXPECT_EQ(result.exit_code, 2) << result.err;
}

TEST_F(BadInput, UnknownEvaluation) {
  const ProcessResult result = whet({"recheck", "e0123456789abcdef", "--ledger", "no.db"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err, "whet: no.db: there is no ledger; `whet evaluate` makes one, --ledger names another\n");
}

TEST_F(BadInput, RunThatIsNotThere) {
  const ProcessResult result = whet({"resume", "never-begun"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("never-begun"));
}

TEST_F(BadInput, MissingWorker) {
  const ProcessResult result = whet({"machine", "--worker", "local:/no/such/whet-worker"});
  EXPECT_TRUE(result.exit_code == 2 || result.exit_code == 3) << result.exit_code;
  EXPECT_THAT(result.err, HasSubstr("/no/such/whet-worker"));
}

}  // namespace
}  // namespace whet
