// SPDX-License-Identifier: Apache-2.0
#include "report/profile_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whet {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LaunchProfile launch(const std::string& kernel, double ns, const std::string& label) {
  LaunchProfile made;
  made.kernel = kernel;
  made.grid = {1056, 1, 1};
  made.block = {512, 1, 1};
  made.ns = ns;
  made.counters["gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"] = {78, "%"};
  made.counters["dram__bytes_read.sum"] = {134227456, "byte"};
  made.counters["whet__stall_long_scoreboard.pct"] = {97, "%"};
  made.roofline = {{"dram", 3.75e12, 4.81e12, "byte/s", "the profiler's peak at the clock of this run"}};
  made.label = {label, "The device memory is busy.", "A reason.", {{"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", {78, "%"}, true, 60}}};
  return made;
}

Profile profile_of(int kernels) {
  Profile profile{.task = "t", .workload = "w", .solution = "s", .tool = "Nsight Compute 2025.3.1.0"};
  for (int i = 0; i < kernels; ++i) {
    profile.launches.push_back(launch("kernel_" + std::to_string(i), 65696, "dram_bound"));
    profile.total_ns += 65696;
  }
  if (kernels > 0) profile.label = profile.launches[0].label;
  return profile;
}

TEST(ProfileText, EvidenceFirstThenTheReading) {
  const std::string text = profile_text(profile_of(1), {});
  EXPECT_THAT(text, HasSubstr("One call of s on w of t: 1 launch in 65.7 us, by Nsight Compute 2025.3.1.0\n"));
  EXPECT_THAT(text, HasSubstr("  device memory busy            78.0 %   gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed\n"));
  EXPECT_THAT(text, HasSubstr("  bytes read              134.23 Mbyte   dram__bytes_read.sum\n"));
  EXPECT_THAT(text, HasSubstr("  warps wait for          long_scoreboard 97 %\n"));
  EXPECT_THAT(text, HasSubstr("78 % of 4.81 Tbyte/s (the profiler's peak at the clock of this run)\n"));
  EXPECT_THAT(text, HasSubstr("     gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed = 78.0 % (at least 60)\n"));
  EXPECT_LT(text.find("device memory busy"), text.find("=> dram_bound"));
  EXPECT_THAT(text, HasSubstr("The call: dram_bound: The device memory is busy.\n"));
}

TEST(ProfileText, LaunchesOfOneKernelAreOneParagraph) {
  Profile profile = profile_of(1);
  profile.launches.push_back(profile.launches[0]);
  profile.total_ns *= 2;
  EXPECT_THAT(profile_text(profile, {}), HasSubstr("in 2 launches (the longest is shown), 100 % of the call's kernels"));
}

TEST(ProfileText, ManyKernelsStayBelowTenKilobytes) {
  Profile profile = profile_of(40);
  for (LaunchProfile& made : profile.launches) made.missing = std::vector<std::string>(30, "some__missing_counter.sum");
  const std::string text = profile_text(profile, {});
  EXPECT_LT(text.size(), 10000u);
  EXPECT_THAT(text, HasSubstr("of 40 kernels left out; --json has all]"));
}

SassKernel function(const std::string& name) {
  return {name, name, "sm_90a", 12, {{"tensor", 4}, {"local memory", 2}, {"integer", 6}}, {{"HGMMA.64x64x16.F32.BF16", 4}}, 128, 16, 1024, {"STL [R1], R2", "LDL R2, [R1]"}};
}

TEST(DisassemblyText, MixSpillsAndDifference) {
  Disassembly all{.solution = "mine", .against = "start", .tool = "cuobjdump 13.0", .kernels = {function("f")}, .same_kernels = 1};
  all.differences = {{"g", "", 20, 12, {{"async copy", 0, 3}, {"bulk copy", 2, 0}}, {{"LDGSTS.E", 0, 3}, {"UBLKCP", 2, 0}}}, {"h", "before", 7, 0, {}, {}}};
  const std::string text = disassembly_text(all, {});
  EXPECT_THAT(text, HasSubstr("From start to mine: 1 function is the same, 2 not\n"));
  EXPECT_THAT(text, HasSubstr("  classes: async copy 0 -> 3 (new), bulk copy 2 -> 0 (gone)\n"));
  EXPECT_THAT(text, HasSubstr("h\n  only in start (7 instructions)\n"));
  EXPECT_THAT(text, HasSubstr("f\n  12 instructions for sm_90a, 128 registers, 16 bytes of stack, 1024 bytes of shared memory\n  integer 6, tensor 4, local memory 2\n"));
  EXPECT_THAT(text, HasSubstr("  2 instructions read or write local memory (spilled registers, or an array indexed at run time):\n    STL [R1], R2\n"));
}

TEST(DisassemblyText, ManyFunctionsStayBelowTenKilobytes) {
  Disassembly all{.solution = "mine", .against = "start", .tool = "cuobjdump"};
  for (int i = 0; i < 500; ++i) {
    all.kernels.push_back(function("f" + std::to_string(i)));
    all.differences.push_back({"d" + std::to_string(i), "", 1, 2, {}, {{"MOV", 1, 2}}});
  }
  EXPECT_LT(disassembly_text(all, {}).size(), 10000u);
}

TEST(SanitizingText, FindingsBelowTheirTool) {
  Sanitizing all{.task = "t", .workload = "w", .solution = "s", .version = "2025.3.1.0"};
  SanitizerReport found{.tool = "memcheck", .outcome = SanitizerReport::Outcome::found, .sentence = "memcheck found 4 errors"};
  found.findings = {{.kind = "Invalid __global__ write", .sentence = "Invalid __global__ write of size 4 bytes", .kernel = "f(char *)", .place = "a.cu:10", .address = "0x10", .times = 4}};
  all.reports = {found, {.tool = "racecheck", .outcome = SanitizerReport::Outcome::clean, .sentence = "racecheck found nothing"}};
  const std::string text = sanitizing_text(all, {});
  EXPECT_THAT(text, HasSubstr("memcheck   memcheck found 4 errors\n  Invalid __global__ write of size 4 bytes  (4 times)\n    in f(char *), at a.cu:10, address 0x10\n"));
  EXPECT_THAT(text, HasSubstr("racecheck  racecheck found nothing\n"));
  EXPECT_THAT(text, Not(HasSubstr("left out")));
}

}  // namespace
}  // namespace whet
