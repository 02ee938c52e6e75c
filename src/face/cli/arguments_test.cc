// SPDX-License-Identifier: Apache-2.0
#include "face/cli/arguments.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

struct Example {
  std::string task, solution, set = "full";
  std::vector<std::string> workloads;
  double minutes = 2;
  int steps = 0;
  bool columns = false;
  Arguments arguments{"whet try"};
  Example() {
    arguments.position(task, "TASK", "the task");
    arguments.optional_position(solution, "SOLUTION", "the Solution");
    arguments.text(set, "--set NAME", "a named set");
    arguments.texts(workloads, "--workload NAME", "only this one");
    arguments.number(minutes, "--minutes N", "how long", 0.1, 600);
    arguments.integer(steps, "--steps N", "how many", 1);
    arguments.flag(columns, "--columns", "all columns");
  }
  std::string error(const std::vector<std::string>& words) {
    const Status status = arguments.parse(words);
    return status ? "" : status.error().what;
  }
};

TEST(Arguments, FillsWhatIsGivenAndKeepsDefaults) {
  Example it;
  EXPECT_EQ(it.error({"--workload", "a", "rmsnorm", "--minutes=0.5", "--columns", "--workload=b", "start"}), "");
  EXPECT_EQ(it.task, "rmsnorm");
  EXPECT_EQ(it.solution, "start");
  EXPECT_EQ(it.set, "full");
  EXPECT_EQ(it.workloads, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(it.minutes, 0.5);
  EXPECT_TRUE(it.columns);
  EXPECT_TRUE(it.arguments.given("--minutes"));
  EXPECT_FALSE(it.arguments.given("--steps"));
}

TEST(Arguments, ALoneDashIsAValue) {
  Example it;
  EXPECT_EQ(it.error({"t", "--set", "-"}), "");
  EXPECT_EQ(it.set, "-");
}

TEST(Arguments, SaysWhatIsWrong) {
  EXPECT_EQ(Example().error({}), "TASK is missing: the task");
  EXPECT_EQ(Example().error({"t", "s", "u"}), "unexpected argument 'u'");
  EXPECT_EQ(Example().error({"t", "--minuts", "3"}), "unknown option '--minuts'; did you mean '--minutes'?");
  EXPECT_EQ(Example().error({"t", "--frobnicate=3"}), "unknown option '--frobnicate=3'");
  EXPECT_EQ(Example().error({"t", "--minutes", "soon"}), "--minutes: expected a number from 0.1 to 600, found 'soon'");
  EXPECT_EQ(Example().error({"t", "--minutes", "nan"}), "--minutes: expected a number from 0.1 to 600, found 'nan'");
  EXPECT_EQ(Example().error({"t", "--steps", "0"}), "--steps: expected a whole number, 1 or more, found '0'");
  EXPECT_EQ(Example().error({"t", "--steps", "2.5"}), "--steps: expected a whole number, 1 or more, found '2.5'");
  EXPECT_EQ(Example().error({"t", "--set", "a", "--set", "b"}), "--set stands 2 times; it can be given once");
  EXPECT_EQ(Example().error({"t", "--set="}), "--set: expected a value after it, found none");
  EXPECT_EQ(Example().error({"t", "--set", ""}), "--set: expected a value, found nothing between the quotes");
  EXPECT_EQ(Example().error({"t", "--set"}), "--set: expected a value after it, found none");
}

TEST(Arguments, HelpHasALineForEach) {
  Example it;
  EXPECT_EQ(it.arguments.usage(), "Usage: whet try TASK [SOLUTION] [options]\n");
  EXPECT_NE(it.arguments.table().find("  --workload NAME...      only this one\n"), std::string::npos) << it.arguments.table();
  EXPECT_LT(it.arguments.table().find("SOLUTION"), it.arguments.table().find("--set")) << "positions first";
}

}  // namespace
}  // namespace whet
