// SPDX-License-Identifier: Apache-2.0
#include "search/workspace.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace whet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using Files = std::map<std::string, std::string>;

const Files kTask = {{"task.toml", "name = 'x'\n"}}, kStart = {{"a.cc", "int a;\n"}};

class AWorkspace : public ::testing::Test {
 protected:
  Expected<Workspace> create(const Files& task = kTask) { return Workspace::create(folder, task, kStart); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((fs::path(folder) / path).parent_path());
    std::ofstream(fs::path(folder) / path) << text;
  }

  TemporaryDirectory temporary = *TemporaryDirectory::make("whet-workspace");
  std::string folder = temporary.path() / "run";
};

TEST_F(AWorkspace, AppearsWholeWhateverAKilledBeginLeft) {
  write("task/removed-since.toml", "x");
  write("repo.new/HEAD", "ref: refs/heads/ma");
  EXPECT_THAT(Workspace::open(folder).error().what, HasSubstr("no run has begun there; 'whet optimize' begins it"));
  {
    const auto made = create();
    ASSERT_TRUE(made) << made.error().what;
  }
  EXPECT_FALSE(fs::exists(folder + "/repo.new"));
  const auto opened = Workspace::open(folder);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_EQ(*opened->task_files(), kTask);
  EXPECT_EQ(*Git().files_of(folder + "/repo", "refs/heads/champion"), kStart);
}

TEST_F(AWorkspace, IsMadeAnewAsLongAsNothingWasCommittedInIt) {
  ASSERT_TRUE(create());
  const Files other_task = {{"task.toml", "name = 'y'\n"}};
  {
    auto again = create(other_task);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(*again->task_files(), other_task);
    ASSERT_TRUE(again->commit({.files = {{"a.cc", "int b;\n"}},
                               .parent = again->start_commit(),
                               .summary = "s",
                               .evaluation = "e1",
                               .solution_hash = "abc"}));
  }
  EXPECT_EQ(create().error().what, folder + ": a run is there already; resume it or choose another folder");
  EXPECT_NE(*Workspace::open(folder)->find("abc"), "");
}

TEST_F(AWorkspace, RemovesWhatAKilledGitLeft) {
  ASSERT_TRUE(create());
  const std::vector<std::string> leftovers = {"repo/refs/heads/champion.lock", "repo/objects/pack/tmp_pack_AbC",
                                              "repo/objects/12/tmp_obj_x", "repo/fast_import_crash_17"};
  for (const std::string& path : leftovers) write(path, "x");
  ASSERT_TRUE(Git().run(folder + "/repo", {"branch", "tmp_mine", "main"}));
  const auto opened = Workspace::open(folder);
  ASSERT_TRUE(opened) << opened.error().what;
  EXPECT_TRUE(Git().run(folder + "/repo", {"rev-parse", "--verify", "tmp_mine"})) << "a branch of the user's";
  for (const std::string& path : leftovers) EXPECT_FALSE(fs::exists(fs::path(folder) / path)) << path;
}

// A git that was started by a whet that is dead now writes to the repository that the next one opens: that one waits for it.
TEST_F(AWorkspace, IsLockedUntilTheGitsOfAKilledOwnerHaveEnded) {
  const fs::path tools = temporary.path() / "tools";
  fs::create_directory(tools);
  // A git that says that it has begun, and waits as long as there is a file "hold".
  std::ofstream(tools / "git") << fmt::format(
      "#!/bin/sh\nif [ -e {0}/hold ]; then touch {0}/begun; while [ -e {0}/hold ]; do sleep 0.01; done; touch "
      "{0}/ended; fi\n"
      "PATH=/usr/local/bin:/usr/bin:/bin exec git \"$@\"\n",
      tools.string());
  fs::permissions(tools / "git", fs::perms(0755));
  ASSERT_TRUE(create());
  const pid_t owner = ::fork();
  if (owner == 0) {
    ::setenv("PATH", (tools.string() + ":/usr/bin:/bin").c_str(), 1);
    auto workspace = Workspace::open(folder);
    if (!workspace) ::_exit(1);
    std::ofstream(tools / "hold") << "";
    (void)workspace->find("abc");
    ::_exit(2);
  }
  while (!fs::exists(tools / "begun") && ::waitpid(owner, nullptr, WNOHANG) == 0) std::this_thread::yield();
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  ASSERT_TRUE(fs::exists(tools / "begun"));
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    fs::remove(tools / "hold");
  });
  const auto opened = Workspace::open(folder);
  EXPECT_TRUE(opened) << opened.error().what;
  EXPECT_TRUE(fs::exists(tools / "ended")) << "it was opened while a git was at work";
}

}  // namespace
}  // namespace whet
