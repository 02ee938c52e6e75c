// SPDX-License-Identifier: Apache-2.0
// tools/setup against a pretended distribution: stubs of dpkg-query, apt-get, apt-cache, id and sudo stand first in the search path.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"

namespace whet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

class Setup : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::move(*TemporaryDirectory::make("whet-setup"));
    stub("dpkg-query", "while read -r p; do echo \"installed $p\"; done < " + path("installed"));
    stub("apt-cache", "for last; do :; done; ! grep -qx \"$last\" " + path("unknown"));
    // Installs by writing the names down, but for those that are said to be refused.
    stub("apt-get",
         "echo \"apt-get $*\" >> " + path("log") + "\ncase \" $* \" in *' install '*) ;; *) exit 0 ;; esac\nstatus=0\n" +
             "for word; do\n  if grep -qx -e \"$word\" " + path("refused") + "; then echo \"E: $word: no room on the disk\"; status=100; fi\ndone\n" +
             "[ $status = 0 ] && for word; do echo \"$word\" >> " + path("installed") + "; done\nexit $status");
    stub("id", "echo 0");
    stub("sudo", "echo \"sudo $*\" >> " + path("log") + "\n[ \"$1\" = -n ] && shift\nexec \"$@\"");
    for (const char* name : {"unknown", "refused", "log"}) write(name, "");
    write("installed",
          "g++\nmake\ncmake\nninja-build\npkgconf\ngit\nca-certificates\nnlohmann-json3-dev\nlibtomlplusplus-dev\nlibcli11-dev\nlibfmt-dev\nlibsqlite3-dev\n"
          "libseccomp-dev\nlibopenblas-dev\nlibdnnl-dev\nlibgtest-dev\nlibgmock-dev\nopenssh-client\nopenssh-server\n");
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  std::string read(const std::string& name) {
    std::ifstream in(path(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void stub(const std::string& name, const std::string& script) {
    fs::create_directories(folder_.path() / "bin");
    write("bin/" + name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(path("bin/" + name), fs::perms::owner_all);
  }
  void forget(const std::string& package) {
    std::string text = read("installed");
    const auto at = ("\n" + text).find("\n" + package + "\n");
    ASSERT_NE(at, std::string::npos) << package;
    write("installed", text.erase(at, package.size() + 1));
  }
  // Exit code; both streams go to output_.
  int setup(std::vector<std::string> words = {}) {
    ProcessSpec spec;
    spec.argv = {"/bin/sh", std::string(WHET_SOURCE_DIR) + "/tools/setup"};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.environment = {{"PATH", path("bin") + ":/usr/local/bin:/usr/bin:/bin"}};
    const auto result = run_process(spec);
    EXPECT_TRUE(result);
    output_ = result->out + result->err;
    seconds_ = result->seconds;
    return result->exit_code;
  }

  TemporaryDirectory folder_;
  std::string output_;
  double seconds_ = 0;
};

TEST_F(Setup, DoesNothingWhenNothingIsMissingAndIsQuick) {
  EXPECT_EQ(setup(), 0);
  EXPECT_EQ(output_, "setup: nothing is missing\n");
  EXPECT_EQ(read("log"), "") << "no package manager was asked";
  EXPECT_LT(seconds_, 1);
}

TEST_F(Setup, InstallsWhatIsMissingAndOnlyThat) {
  forget("libfmt-dev");
  forget("libgtest-dev");
  EXPECT_EQ(setup(), 0) << output_;
  EXPECT_THAT(output_, HasSubstr("setup: installing: libfmt-dev libgtest-dev\n"));
  EXPECT_THAT(read("log"), Not(HasSubstr("sudo")));
  EXPECT_EQ(setup(), 0);
  EXPECT_EQ(output_, "setup: nothing is missing\n") << "a second run has nothing to do";
}

TEST_F(Setup, TheDemoNeedsNoTestLibraries) {
  forget("libgtest-dev");
  EXPECT_EQ(setup({"--demo"}), 0);
  EXPECT_EQ(output_, "setup: nothing is missing\n");
}

TEST_F(Setup, SaysWhatItCouldNotGetAndWhyAndStillGetsTheRest) {
  forget("libdnnl-dev");
  forget("libfmt-dev");
  forget("libcli11-dev");
  write("refused", "libdnnl-dev\n");
  write("unknown", "libcli11-dev\n");
  EXPECT_EQ(setup({"--demo"}), 1);
  EXPECT_THAT(output_, HasSubstr("libdnnl-dev: E: libdnnl-dev: no room on the disk"));
  EXPECT_THAT(output_, HasSubstr("libcli11-dev: not offered by the distribution's package lists"));
  EXPECT_THAT(read("installed"), HasSubstr("libfmt-dev\n")) << "one refusal does not take the others with it";
}

TEST_F(Setup, UsesSudoWhenItIsNotRoot) {
  stub("id", "echo 1000");
  forget("libfmt-dev");
  EXPECT_EQ(setup(), 0) << output_;
  EXPECT_THAT(read("log"), HasSubstr("sudo -n env DEBIAN_FRONTEND=noninteractive apt-get"));
}

TEST_F(Setup, CheckChangesNothing) {
  forget("libfmt-dev");
  EXPECT_EQ(setup({"--check"}), 1);
  EXPECT_EQ(output_, "setup: missing: libfmt-dev\n");
  EXPECT_EQ(read("log"), "");
}

TEST_F(Setup, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(setup({"--everything"}), 2);
  EXPECT_EQ(output_, "setup: unknown argument '--everything'; it takes --demo, --all and --check\n");
}

}  // namespace
}  // namespace whet
