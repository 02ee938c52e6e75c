// SPDX-License-Identifier: Apache-2.0
// The command lines for the other side, run by shells of this one.
#include "wire/far_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"
#include "base/hash.h"
#include "base/process.h"

namespace whet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FarSide : public ::testing::Test {
 protected:
  FarSide() : home_(std::move(*TemporaryDirectory::make("whet-far"))) { program_.folder = (home_.path() / "it's $here").string(); }

  ProcessResult sh(const std::string& command, const std::string& input = "") {
    ProcessSpec spec{.argv = {"/bin/sh", "-c", command}, .environment = environment_, .stdin_text = input};
    auto result = run_process(spec);
    EXPECT_TRUE(result) << result.error().what;
    return *result;
  }
  void is(const std::string& contents) {
    contents_ = contents;
    program_.hash = sha256_hex(contents);
    program_.bytes = contents.size();
  }
  ProcessResult start(const std::vector<std::string>& arguments = {}) { return sh(far_start(program_, arguments)); }
  ProcessResult receive() { return sh(far_receive(program_), contents_); }
  fs::path file() const { return fs::path(program_.folder) / ("whet-worker-" + program_.hash); }
  int files_in(const fs::path& folder) {
    int count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder)) ++count;
    return count;
  }
  // Only these programs are in the search path.
  void with_only(const std::vector<std::string>& names) {
    fs::create_directories(home_.path() / "bin");
    for (const std::string& name : names) {
      const fs::path from = fs::exists("/usr/bin/" + name) ? "/usr/bin/" + name : "/bin/" + name;
      fs::create_symlink(from, home_.path() / "bin" / name);
    }
    environment_["PATH"] = home_.path() / "bin";
  }

  TemporaryDirectory home_;
  std::map<std::string, std::string> environment_ = {{"HOME", home_.path()}, {"PATH", "/usr/bin:/bin"}};
  FarProgram program_;
  std::string contents_;
};

constexpr const char* kPrints = "#!/bin/sh\nfor word; do echo \"<$word>\"; done\nexit 7\n";

TEST_F(FarSide, TakesTheProgramOnceAndStartsItWithItsArgumentsAsTheyAre) {
  is(kPrints);
  EXPECT_EQ(start().out, "whet-worker: missing\n");
  EXPECT_EQ(start().exit_code, 0);
  EXPECT_EQ(receive().out, "whet-worker: arrived\n");
  const ProcessResult ran = start({"--cache", "a b", "it's", "$HOME `x` !y"});
  EXPECT_EQ(ran.out, "whet-worker: starts\n<--cache>\n<a b>\n<it's>\n<$HOME `x` !y>\n");
  EXPECT_EQ(ran.exit_code, 7);
  EXPECT_EQ(files_in(program_.folder), 1) << "nothing beside it";
}

TEST_F(FarSide, ThePlacesOfTheFolder) {
  is(kPrints);
  for (const auto& [folder, place] : std::map<std::string, std::string>{{"", ".cache/whet/worker"}, {"~", ""}, {"~/a b", "a b"}}) {
    program_.folder = folder;
    EXPECT_EQ(receive().out, "whet-worker: arrived\n") << folder;
    EXPECT_TRUE(fs::exists(home_.path() / place / file().filename())) << folder;
  }
  environment_["XDG_CACHE_HOME"] = home_.path() / "xdg";
  program_.folder = "";
  EXPECT_EQ(start().out, "whet-worker: missing\n") << "another cache";
  receive();
  EXPECT_TRUE(fs::exists(home_.path() / "xdg/whet/worker" / file().filename()));
}

TEST_F(FarSide, AnotherContentIsReplaced) {
  is(kPrints);
  receive();
  ASSERT_TRUE(write_file_atomically(file(), std::string(contents_.size(), '#')));
  chmod(file().c_str(), 0755);
  EXPECT_EQ(start().out, "whet-worker: missing\n");
  receive();
  EXPECT_THAT(start().out, HasSubstr("starts"));
  chmod(file().c_str(), 0644);
  EXPECT_EQ(start().out, "whet-worker: missing\n") << "it could not be run";
}

TEST_F(FarSide, WhatIsCutOffOrChangedLeavesNothing) {
  is(kPrints);
  contents_.resize(20);
  const ProcessResult cut = receive();
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_THAT(cut.err, HasSubstr(fmt::format("20 of {} bytes arrived", program_.bytes)));
  contents_ = std::string(program_.bytes, 'x');
  EXPECT_EQ(receive().err, "what arrived has another SHA-256\n");
  EXPECT_EQ(files_in(program_.folder), 0);
}

TEST_F(FarSide, WithoutSha256sumTheSizeIsLookedAt) {
  is(kPrints);
  with_only({"sh", "cat", "mkdir", "mktemp", "wc", "chmod", "mv", "rm"});
  EXPECT_EQ(receive().out, "whet-worker: arrived\n");
  EXPECT_THAT(start().out, HasSubstr("starts"));
  ASSERT_TRUE(write_file_atomically(file(), "#!/bin/sh\n"));
  chmod(file().c_str(), 0755);
  EXPECT_EQ(start().out, "whet-worker: missing\n");
}

TEST_F(FarSide, AKilledProgramIsToldByItsSignal) {
  is("#!/bin/sh\nkill -9 $$\n");
  receive();
  EXPECT_EQ(start().exit_code, 128 + 9);
}

TEST_F(FarSide, AFolderThatCannotBeMadeIsSaid) {
  is(kPrints);
  program_.folder = "/proc/nowhere";
  const ProcessResult refused = receive();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.err, HasSubstr("/proc/nowhere"));
}

}  // namespace
}  // namespace whet
