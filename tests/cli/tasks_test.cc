// SPDX-License-Identifier: Apache-2.0
// The commands about tasks, and that a new task works as it is.
#include "tests/cli/run_whet.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

class Tasks : public WhetTest {};

TEST_F(Tasks, ListNamesTheShippedOnes) {
  const ProcessResult result = whet({"task", "list"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("attention-cpu       26 workloads"));
  EXPECT_THAT(result.out, HasSubstr("attention-hopper   182 workloads"));
  EXPECT_THAT(result.out, HasSubstr("rmsnorm-cpu          4 workloads"));
}

TEST_F(Tasks, ShippedTasksHaveNoComplaint) {
  for (const char* name : {"attention-cpu", "attention-hopper", "rmsnorm-cpu"}) {
    const ProcessResult result = whet({"task", "check", name});
    EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("no complaint"));
  }
}

TEST_F(Tasks, ShowTellsAxesInputsWorkloadsBaselinesAndFloors) {
  const ProcessResult result = whet({"task", "show", "attention-cpu"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* word : {"attention_bf16", "head_dim", "openblas", "onednn", "causal", "floor", "geomean_vs_fastest"}) EXPECT_THAT(result.out, HasSubstr(word));
}

TEST_F(Tasks, ANewTaskChecksAndHasAHeaderThatCompiles) {
  EXPECT_EQ(whet({"task", "new", "mine"}).exit_code, 0);
  const ProcessResult check = whet({"task", "check", "./mine"});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  const ProcessResult header = whet({"header", "./mine", "--into", "headers"});
  EXPECT_EQ(header.exit_code, 0) << header.err;
  int headers = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder() / "headers")) {
    ++headers;
    ProcessSpec compile;
    compile.argv = {"gcc", "-std=c99", "-Wall", "-Werror", "-fsyntax-only", "-I", std::string(WHET_SOURCE_DIR) + "/include", entry.path().string()};
    const auto compiled = run_process(compile);
    ASSERT_TRUE(compiled);
    EXPECT_TRUE(compiled->ok()) << compiled->err;
  }
  EXPECT_EQ(headers, 1);
}

TEST_F(Tasks, ANewTaskNeverWritesOverAnything) {
  write("mine/precious.txt", "keep");
  expect_refusal({"task", "new", "mine"}, 2, "whet: mine: is there already; choose another name, or remove it first\n");
  EXPECT_EQ(read("mine/precious.txt"), "keep");
}

TEST_F(Tasks, CheckReportsEveryComplaintAtOnce) {
  EXPECT_EQ(whet({"task", "new", "mine"}).exit_code, 0);
  std::string toml = read("mine/task.toml");
  for (const auto& [from, to] : {std::pair{"baselines = [", "baselines = [\"nobody\", "}, std::pair{"[goal]", "[goal]\nspeed = 3"}}) {
    const auto at = toml.find(from);
    ASSERT_NE(at, std::string::npos) << toml;
    toml.replace(at, std::string(from).size(), to);
  }
  write("mine/task.toml", toml);
  write("mine/workloads/broken.jsonl", "{not json\n");
  const ProcessResult result = whet({"task", "check", "./mine"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.out, HasSubstr("nobody"));
  EXPECT_THAT(result.out, HasSubstr("speed"));
  EXPECT_THAT(result.out, HasSubstr("broken.jsonl"));
  EXPECT_THAT(result.err, HasSubstr("complaint(s)"));
}

TEST_F(Tasks, AFolderOfThatNameInTheDataFolderTakesThePlaceOfAShippedTask) {
  EXPECT_EQ(whet({"task", "new", "rmsnorm-cpu", "--in", "."}).exit_code, 0);
  std::filesystem::create_directories(folder() / "data/tasks");
  std::filesystem::rename(folder() / "rmsnorm-cpu", folder() / "data/tasks/rmsnorm-cpu");
  EXPECT_THAT(whet({"task", "list", "--data", "data"}).out, HasSubstr("(data/tasks/rmsnorm-cpu)"));
  EXPECT_THAT(whet({"task", "list"}).out, HasSubstr("(shipped)"));
}

TEST_F(Tasks, HeaderOfAnUnknownDefinition) {
  expect_refusal({"header", "attention-cpu", "attention_f16"}, 2,
                 "whet: task attention-cpu has no Definition 'attention_f16'; did you mean 'attention_bf16'?; it has attention_f32 and attention_bf16\n");
}

TEST_F(Tasks, ImportOfAFolderWithoutADataSet) {
  std::filesystem::create_directories(folder() / "nothing");
  const ProcessResult result = whet({"task", "import", "nothing"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("nothing"));
}

}  // namespace
}  // namespace whet
