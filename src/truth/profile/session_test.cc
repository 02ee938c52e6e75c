// SPDX-License-Identifier: Apache-2.0
// Tools that are scripts which behave as the real ones were seen to.
#include "truth/profile/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/json_impl.h"

namespace whet {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kData = std::string(WHET_SOURCE_DIR) + "/src/truth/profile/testdata/";

class ProfilingSession : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TemporaryDirectory::make("whet-profile");
    ASSERT_TRUE(made);
    folder_ = std::move(*made);
    fs::create_directories(folder() / "scratch");
    auto text = read_file(std::string(WHET_SOURCE_DIR) + "/levers/labels.json");
    rules_ = *read_label_rules(*text, "labels.json");
  }
  fs::path folder() const { return folder_.path(); }
  fs::path tool(const std::string& name, const std::string& script) {
    const fs::path file = folder() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n" << script;
    fs::permissions(file, fs::perms::owner_all);
    return file;
  }
  ProfiledProgram program() {
    ProfiledProgram made;
    made.argv = {"/bin/true"};
    made.environment = {{"PATH", "/usr/bin:/bin"}};
    made.scratch = folder() / "scratch";
    made.limit = std::chrono::seconds(60);
    return made;
  }
  // Writes the log and a report; prints the raw page when it is asked to import.
  std::string ncu(const std::string& log, int exit_code) {
    return "case \"$*\" in *--version*) cat " + kData + "ncu_version.txt; exit 0;; *--import\\ *) cat " + kData + "ncu_raw.csv; exit 0;; esac\n" +
           "log= report=; while [ $# -gt 0 ]; do [ \"$1\" = --log-file ] && log=$2; [ \"$1\" = --export ] && report=$2; shift; done\n" + "cp " + kData + log +
           " \"$log\"; echo report > \"$report\"; exit " + std::to_string(exit_code) + "\n";
  }
  std::vector<LabelRule> rules_;

 private:
  TemporaryDirectory folder_;
};

TEST_F(ProfilingSession, AProfile) {
  const auto profiled = profile_program(tool("ncu", ncu("ncu_log.txt", 0)), program(), rules_, {{"dram", 4.55e12}});
  ASSERT_TRUE(profiled) << profiled.error().what;
  EXPECT_EQ(profiled->profile.tool, "Nsight Compute 2025.3.1.0");
  EXPECT_EQ(profiled->profile.launches.size(), 19u);
  EXPECT_EQ(profiled->files.report, "report\n");
  EXPECT_THAT(profiled->files.raw, HasSubstr("gpu__time_duration.sum"));
  EXPECT_EQ(profiled->profile.launches[0].label.id, "dram_bound");
  EXPECT_EQ(profiled->profile.launches[0].roofline[0].ceiling, 4.55e12);
  EXPECT_EQ(profiled->profile.label.id, "register_spills");  // 4.5 ms of the 7.4
  const Json json = to_json(profiled->profile);
  const auto again = profile_from_json(json, "profile");
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(*again == profiled->profile);
}

TEST_F(ProfilingSession, AProfileThatFails) {
  const auto none = profile_program(tool("ncu", ncu("ncu_no_kernels.txt", 0)), program(), rules_, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what, "ncu: no kernel was launched in the call, so there is nothing to profile");
  const auto broken = profile_program(tool("ncu", ncu("ncu_illegal_access.txt", 9)), program(), rules_, {});
  ASSERT_FALSE(broken);
  EXPECT_THAT(broken.error().what, HasSubstr("LaunchFailed"));
}

TEST_F(ProfilingSession, SanitizersAreGates) {
  const std::string script = "case \"$*\" in *--version*) cat " + kData + "compute_sanitizer_version.txt; exit 0;; esac\n" +
                             "tool= log=; for word; do case $last in --tool) tool=$word;; --log-file) log=$word;; esac; last=$word; done\n" +
                             "case $tool in memcheck) cp " + kData + "memcheck_misaligned.txt \"$log\"; exit 86;; racecheck) exit 255;; *) cp " + kData + "initcheck_clean.txt \"$log\";; esac\n";
  const auto all = sanitize_program(tool("compute-sanitizer", script), program(), sanitizer_tools());
  ASSERT_TRUE(all) << all.error().what;
  EXPECT_EQ(all->version, "2025.3.1.0");
  ASSERT_EQ(all->reports.size(), 4u);
  EXPECT_EQ(all->reports[0].outcome, SanitizerReport::Outcome::found);
  EXPECT_EQ(all->reports[1].outcome, SanitizerReport::Outcome::failed);
  EXPECT_EQ(all->reports[2].outcome, SanitizerReport::Outcome::clean);
  EXPECT_EQ(all->reports[3].outcome, SanitizerReport::Outcome::clean);
  EXPECT_FALSE(all->clean());
  EXPECT_TRUE(all->failed());
  const auto again = sanitizing_from_json(to_json(*all), "sanitizing");
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(*again == *all);
}

TEST_F(ProfilingSession, ADisassembly) {
  const fs::path cuobjdump = tool("cuobjdump", "case $1 in -sass) cat " + kData + "sass.txt;; -res-usage) cat " + kData + "res_usage.txt;; *) echo 'Cuda compilation tools, release 13.0, V13.0.85';; esac\n");
  const auto read = disassemble_file(cuobjdump, "/x.so");
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read->tool, "cuobjdump 13.0");
  EXPECT_EQ(read->kernels.size(), 4u);
  Disassembly record{.solution = "a", .against = "", .tool = read->tool, .kernels = read->kernels};
  const auto again = disassembly_from_json(to_json(record), "disassembly");
  ASSERT_TRUE(again) << again.error().what;
  EXPECT_TRUE(*again == record);
}

TEST_F(ProfilingSession, ALibraryWithoutDeviceCode) {
  const auto read = disassemble_file(tool("cuobjdump", "cat " + kData + "sass_host_only.txt >&2; exit 255\n"), "/x.so");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().what, HasSubstr("no device code"));
  EXPECT_EQ(read.error().blame, Blame::input);
}

TEST_F(ProfilingSession, WhereToolsAreLookedFor) {
  ToolSearch search{.path = "", .cuda_home = "", .cuda_path = "", .root = folder()};
  const auto missing = find_profiling_tool("ncu", search);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().what,
            "ncu is missing on the worker's machine: not in PATH, CUDA_HOME/bin, /usr/local/cuda/bin or /opt/nvidia/nsight-compute; Nsight Compute (package "
            "cuda-nsight-compute) brings it");
  EXPECT_EQ(missing.error().blame, Blame::machine);
  tool("opt/nvidia/nsight-compute/2024.1.0/ncu", "");
  const fs::path newest = tool("opt/nvidia/nsight-compute/2025.3.1/ncu", "");
  EXPECT_EQ(find_profiling_tool("ncu", search).value(), newest);
  const fs::path toolkit = tool("usr/local/cuda/bin/ncu", "");
  EXPECT_EQ(find_profiling_tool("ncu", search).value(), toolkit);
  const fs::path home = tool("home/bin/ncu", "");
  search.cuda_home = folder() / "home";
  EXPECT_EQ(find_profiling_tool("ncu", search).value(), home);
  const fs::path in_path = tool("first/ncu", "");
  search.path = "/nonexistent::" + (folder() / "first").string();
  EXPECT_EQ(find_profiling_tool("ncu", search).value(), in_path);
}

TEST(Standalone, CommandLine) {
  EXPECT_THAT(standalone_command("/w", "/f", "/a.so"), ::testing::ElementsAre("/w", "--standalone", "/f", "/a.so"));
}

}  // namespace
}  // namespace whet
