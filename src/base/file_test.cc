// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace whet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
namespace fs = std::filesystem;

class File : public testing::Test {
 protected:
  TemporaryDirectory temporary = TemporaryDirectory::make().value();
  fs::path folder = temporary.path();
};

TEST_F(File, WrittenContentsComeBackByteForByte) {
  const std::string contents("a\0b\n\xff", 5);
  ASSERT_TRUE(write_file_atomically(folder / "x", contents));
  EXPECT_EQ(read_file(folder / "x").value(), contents);
  ASSERT_TRUE(write_file_atomically(folder / "x", ""));
  EXPECT_EQ(read_file(folder / "x").value(), "");
}

TEST_F(File, AFailedWriteLeavesTheOldContentsAndNoRemains) {
  ASSERT_TRUE(write_file_atomically(folder / "x", "old"));
  fs::create_directory(folder / "d");
  EXPECT_FALSE(write_file_atomically(folder / "d", "new"));  // a folder cannot be replaced by a file
  EXPECT_EQ(read_file(folder / "x").value(), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
}

TEST_F(File, ErrorsNameTheFileAndWhatIsWrongWithIt) {
  EXPECT_THAT(read_file(folder / "none").error().what, testing::AllOf(HasSubstr("none"), HasSubstr("No such file")));
  EXPECT_THAT(read_file(folder).error().what, HasSubstr("found a folder"));
  ASSERT_TRUE(write_file_atomically(folder / "big", "12345"));
  EXPECT_THAT(read_file(folder / "big", 4).error().what, HasSubstr("larger than the 4 bytes"));
  EXPECT_EQ(read_file(folder / "big", 5).value(), "12345");
  ::mkfifo((folder / "pipe").c_str(), 0600);
  EXPECT_THAT(read_file(folder / "pipe").error().what, HasSubstr("found a pipe"));
}

TEST_F(File, ReadsFilesThatClaimToBeEmpty) { EXPECT_THAT(read_file("/proc/self/status").value(), HasSubstr("Pid:")); }

TEST_F(File, ATreeIsReadWithoutHiddenFiles) {
  ASSERT_TRUE(write_tree(folder, {{"b/c.cc", "2"}, {"a.cc", "1"}, {".git/x", "no"}}));
  fs::create_symlink("a.cc", folder / "link.cc");
  EXPECT_THAT(read_tree(folder).value(), ElementsAre(Pair("a.cc", "1"), Pair("b/c.cc", "2"), Pair("link.cc", "1")));
}

TEST_F(File, ATreeThatLeadsOutOrIsTooLargeIsRefused) {
  ASSERT_TRUE(write_tree(folder, {{"a", "123"}, {"b", "456"}}));
  EXPECT_THAT(read_tree(folder, {.max_files = 1}).error().what, HasSubstr("more than 1 files"));
  EXPECT_THAT(read_tree(folder, {.max_bytes = 5}).error().what, HasSubstr("more than 5 bytes"));
  EXPECT_THAT(read_tree(folder / "none").error().what, HasSubstr("none"));
  fs::create_symlink("/etc/passwd", folder / "out");
  EXPECT_THAT(read_tree(folder).error().what, HasSubstr("leads out"));
}

TEST_F(File, OnlyPlainRelativePathsAreWritten) {
  for (const char* path : {"", "/a", "../a", "a/../b", "./a", "a//b", "a/", "a\\b", "a\nb"}) {
    EXPECT_FALSE(is_plain_relative_path(path)) << path;
    EXPECT_FALSE(write_tree(folder, {{path, "x"}})) << path;
  }
  EXPECT_TRUE(is_plain_relative_path("a/b..c/.d"));
}

TEST(TemporaryDirectory, OneWhoseOwnerWasKilledIsRemovedByTheNext) {
  const auto parent = TemporaryDirectory::make("whet-test").value();
  const auto in_use = TemporaryDirectory::make("work", parent.path()).value();
  ASSERT_TRUE(write_tree(parent.path() / "other-AAAAAA", {{"x", ""}}));
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto work = TemporaryDirectory::make("work", parent.path());
    const bool written = work && write_tree(work->path(), {{"a/b", "x"}});
    if (::write(ends[1], written ? "y" : "n", 1) != 1) ::_exit(1);
    for (;;) ::pause();
  }
  char written = 0;
  ASSERT_EQ(::read(ends[0], &written, 1), 1);
  ASSERT_EQ(written, 'y');
  const auto entries = [&] { return std::distance(fs::directory_iterator(parent.path()), fs::directory_iterator()); };
  TemporaryDirectory::remove_abandoned("work", parent.path());
  EXPECT_EQ(entries(), 3) << "its owner lives";
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  EXPECT_EQ(entries(), 3);
  TemporaryDirectory::remove_abandoned("work", parent.path());
  EXPECT_EQ(entries(), 2);
  EXPECT_TRUE(fs::exists(in_use.path())) << "ours is in use";
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(TemporaryDirectory, GoesWithItsContents) {
  fs::path path;
  {
    auto temporary = TemporaryDirectory::make("whet-test").value();
    path = temporary.path();
    ASSERT_TRUE(write_tree(path, {{"a/b", "x"}}));
    TemporaryDirectory moved = std::move(temporary);
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_THAT(TemporaryDirectory::make("x", "/nonexistent").error().what, HasSubstr("/nonexistent"));
}

}  // namespace
}  // namespace whet
