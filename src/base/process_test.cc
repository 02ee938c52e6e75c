// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

namespace whet {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

ProcessSpec shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}}; }

TEST(BoundedText, KeepsHeadAndTail) {
  BoundedText text(8);
  text.append("abc");
  EXPECT_EQ(text.text(), "abc");
  text.append("defgh");
  EXPECT_EQ(text.text(), "abcdefgh");
  EXPECT_FALSE(text.truncated());
  text.append("ijklmnop");
  EXPECT_TRUE(text.truncated());
  EXPECT_EQ(text.total(), 16u);
  EXPECT_EQ(text.text(), "abcd\n[... 8 bytes left out ...]\nmnop");
}

TEST(RunProcess, StreamsExitCodeAndStdin) {
  auto spec = shell("cat; echo bad >&2; exit 3");
  spec.stdin_text = std::string(300'000, 'x');  // more than a pipe holds
  const auto result = run_process(spec).value();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.out, spec.stdin_text);
  EXPECT_EQ(result.err, "bad\n");
  EXPECT_THAT(result.describe({"git", "x"}), HasSubstr("git x: exit code 3: bad"));
}

TEST(RunProcess, AReaderThatLeavesEarlyIsNoFailureOfOurs) {
  auto spec = shell("exec <&-; echo done");
  spec.stdin_text = std::string(1'000'000, 'x');
  EXPECT_EQ(run_process(spec).value().out, "done\n");
}

TEST(RunProcess, OutputIsBounded) {
  auto spec = shell("head -c 50000000 /dev/zero | tr '\\0' 'y'");
  spec.max_output = 1000;
  const auto result = run_process(spec).value();
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.truncated);
  EXPECT_LT(result.out.size(), 1100u);
  EXPECT_THAT(result.out, HasSubstr("49999000 bytes left out"));
}

TEST(RunProcess, TheDeadlineKillsTheWholeGroup) {
  auto spec = shell("sleep 1000 & echo $!; wait");
  spec.deadline = milliseconds(200);
  const auto result = run_process(spec).value();
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
  EXPECT_LT(result.seconds, 5);
  const int grandchild = std::stoi(result.out);
  for (int i = 0; i < 1000 && ::kill(grandchild, 0) == 0; ++i) {
    char state = 0;  // a zombie that its new parent has not reaped yet is dead too
    const auto stat = read_file(fmt::format("/proc/{}/stat", grandchild));
    if (stat) state = stat->at(stat->rfind(')') + 2);
    if (state == 'Z') break;
    ::usleep(1000);
    ASSERT_LT(i, 999) << "the grandchild lives";
  }
}

TEST(RunProcess, AGrandchildThatKeepsThePipeOpenDoesNotHoldUs) {
  const auto result = run_process(shell("sleep 30 & echo hello")).value();
  EXPECT_EQ(result.out, "hello\n");
  EXPECT_LT(result.seconds, 10);
}

TEST(RunProcess, EnvironmentFolderAndSignal) {
  auto spec = shell("echo $A:$HOME; pwd; kill -TERM $$");
  spec.environment = std::map<std::string, std::string>{{"A", "1"}};
  spec.working_directory = "/usr";
  const auto result = run_process(spec).value();
  EXPECT_EQ(result.out, "1:\n/usr\n");
  EXPECT_EQ(result.exit_code, -1);
  EXPECT_EQ(result.signal, SIGTERM);
}

TEST(RunProcess, AMissingProgramIsNamed) {
  EXPECT_THAT(run_process({.argv = {"whet-no-such-program"}}).error().what,
              HasSubstr("whet-no-such-program: No such file"));
  EXPECT_FALSE(run_process({}));
}

TEST(RunProcess, NoDescriptorOfOursIsInherited) {
  const int ours = ::open("/dev/null", O_RDONLY);
  const auto result = run_process(shell("ls /proc/self/fd | wc -l")).value();
  EXPECT_EQ(result.out, "4\n");  // 0, 1, 2 and that of ls itself
  ::close(ours);
}

TEST(Process, TalksOverPipesAndIsReaped) {
  auto process = Process::start({.argv = {"cat"}}).value();
  ASSERT_EQ(::write(process.in().get(), "hi", 2), 2);
  char answer[2];
  ASSERT_EQ(::read(process.out().get(), answer, 2), 2);
  EXPECT_EQ(std::string(answer, 2), "hi");
  EXPECT_FALSE(process.wait(milliseconds(10)).value());
  process.in().reset();
  const auto end = process.wait(milliseconds(5000)).value();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->exit_code, 0);
}

TEST(Process, DiesWithTheObject) {
  pid_t pid = 0;
  {
    auto process = Process::start({.argv = {"sleep", "1000"}}).value();
    pid = process.pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST(Process, KeepsTheOneDescriptorThatItIsToKeep) {
  const auto folder = TemporaryDirectory::make("whet-test").value();
  const Descriptor file(::open((folder.path() / "x").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ProcessSpec list{.argv = {"ls", "/proc/self/fd"}};  // it has one more open: the folder that it lists
  EXPECT_EQ(run_process(list).value().out, "0\n1\n2\n3\n");
  list.kept = file.get();
  EXPECT_EQ(run_process(list).value().out, "0\n1\n2\n3\n4\n");
  ProcessSpec name{.argv = {"readlink", "/proc/self/fd/3"}};
  name.kept = file.get();
  EXPECT_EQ(run_process(name).value().out, (folder.path() / "x").string() + "\n");
}

}  // namespace
}  // namespace whet
