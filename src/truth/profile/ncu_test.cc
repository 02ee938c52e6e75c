// SPDX-License-Identifier: Apache-2.0
// Against reports captured on an H200 (testdata/): 18 kernels of known bottlenecks.
#include "truth/profile/ncu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "truth/profile/derived.h"
#include "truth/profile/label.h"
#include "truth/profile/roofline.h"

namespace whet {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

std::string captured(const std::string& name) {
  auto text = read_file(std::string(WHET_SOURCE_DIR) + "/src/truth/profile/testdata/" + name);
  EXPECT_TRUE(text) << text.error().what;
  return text.value_or("");
}

std::vector<LabelRule> rules() {
  auto text = read_file(std::string(WHET_SOURCE_DIR) + "/levers/labels.json");
  auto read = read_label_rules(text.value_or(""), "levers/labels.json");
  EXPECT_TRUE(read) << read.error().what;
  return read.value_or(std::vector<LabelRule>{});
}

std::map<std::string, LaunchProfile> launches(const std::string& file = "ncu_raw.csv") {
  auto read = parse_ncu_raw(captured(file));
  EXPECT_TRUE(read) << read.error().what;
  std::map<std::string, LaunchProfile> by_name;
  for (LaunchProfile& launch : *read) {
    add_derived(launch);
    launch.roofline = roofline_of(launch, {});
    by_name[launch.kernel] = std::move(launch);
  }
  return by_name;
}

TEST(NcuRaw, ALaunch) {
  const auto all = launches();
  ASSERT_EQ(all.size(), 19u);
  const LaunchProfile& copy = all.at("dram_copy");
  EXPECT_THAT(copy.grid, ElementsAre(1056, 1, 1));
  EXPECT_THAT(copy.block, ElementsAre(512, 1, 1));
  EXPECT_EQ(copy.device, "NVIDIA H200");
  EXPECT_EQ(copy.compute_capability, "9.0");
  EXPECT_EQ(copy.ns, 65696);
  EXPECT_EQ(copy.counters.at("dram__bytes_read.sum"), (Counter{134227456, "byte"}));
  EXPECT_EQ(copy.counters.at("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), (Counter{78.00, "%"}));
  EXPECT_EQ(copy.counters.count("launch__cluster_scheduling_policy"), 0u);  // a word, not a number
  EXPECT_EQ(all.count("void spaced::named<float, 3>(T1 *)"), 1u);
}

// The same report printed with the units that suit people, and with base units. The former are rounded ("4 Kbyte" for 4096 byte): hence --print-units base.
TEST(NcuRaw, UnitsForPeopleAreTheSameNumbers) {
  const auto base = launches(), automatic = launches("ncu_raw_auto_units.csv");
  for (const auto& [kernel, launch] : base)
    for (const auto& [name, counter] : launch.counters) {
      if (name.starts_with("whet__")) continue;
      const Counter& other = automatic.at(kernel).counters.at(name);
      EXPECT_NEAR(other.value, counter.value, std::max(0.01, 0.12 * std::abs(counter.value))) << kernel << " " << name;
      EXPECT_EQ(other.unit, counter.unit) << name;
    }
}

TEST(NcuRaw, TableBehindToolLinesAndTheProgramsOwn) {
  auto read = parse_ncu_raw(captured("ncu_unknown_counter.txt"));
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->size(), 1u);
  EXPECT_THAT(read->front().grid, ElementsAre(2, 3, 1));
  EXPECT_EQ(read->front().ns, 1952);
}

TEST(NcuRaw, WhatIsMissingIsNamed) {
  auto read = parse_ncu_raw(captured("ncu_unknown_counter.txt"));
  ASSERT_TRUE(read);
  const std::vector<std::string> wanted = {"gpu__time_duration.sum", "sm__no_such_thing.sum"};
  keep_counters(read->front(), wanted);
  EXPECT_THAT(read->front().missing, ElementsAre("sm__no_such_thing.sum"));
  EXPECT_EQ(read->front().counters.size(), 1u);
}

TEST(NcuRaw, EveryCounterOfInterestIsInAFullReport) {
  auto all = launches();
  keep_counters(all.at("dram_copy"), counters_of_interest());
  EXPECT_THAT(all.at("dram_copy").missing, IsEmpty());
}

TEST(NcuRaw, RefusesWhatIsNoTable) {
  EXPECT_THAT(parse_ncu_raw("no table").error().what, StartsWith("the profiler's raw page has no table"));
  EXPECT_THAT(parse_ncu_raw("\"ID\",\"Process ID\"\n").error().what, HasSubstr("has 1 rows"));
  EXPECT_EQ(parse_ncu_raw("\"ID\",\"Process ID\",\"a__b\"\n\"\",\"\",\"ns\"\n\"0\",\"1\"\n").error().what,
            "the profiler's raw page: row 3 has 2 cells; expected 3, as the header has");
}

// The bottleneck that each kernel was written to have.
TEST(Label, EachKernelHasItsOwn) {
  const std::map<std::string, std::string> expected = {
      {"dram_copy", "dram_bound"},         {"l2_read", "l2_bound"},          {"fma_chain", "issue_bound"},        {"mma_sync", "tensor_bound"},
      {"wgmma_loop", "tensor_bound"},      {"pointer_chase", "latency_occupancy"}, {"uncoalesced", "uncoalesced"}, {"bank_conflicts", "smem_bank_conflicts"},
      {"register_spills", "register_spills"}, {"low_occupancy", "latency_occupancy"}, {"few_blocks", "low_parallelism"}, {"exponentials", "sfu_bound"},
      {"barriers", "barrier_stalls"},      {"divergent", "divergence"},      {"atomics", "atomics"},              {"tail_wave", "tail_wave"},
      {"integers", "issue_bound"},         {"async_copies", "dram_bound"},   {"void spaced::named<float, 3>(T1 *)", "low_parallelism"}};
  for (auto& [kernel, launch] : launches()) {
    LaunchProfile labelled = launch;
    label_launch(labelled, rules());
    EXPECT_EQ(labelled.label.id, expected.at(kernel)) << kernel;
    for (const LabelReason& reason : labelled.label.reasons) EXPECT_EQ(reason.found, labelled.counters.at(reason.counter));
  }
}

TEST(Label, NamesTheCountersBehindIt) {
  LaunchProfile launch = launches().at("uncoalesced");
  label_launch(launch, rules());
  ASSERT_EQ(launch.label.reasons.size(), 3u);
  EXPECT_EQ(launch.label.reasons[1].counter, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct");
  EXPECT_EQ(launch.label.reasons[1].found, (Counter{12.5, "%"}));
  EXPECT_FALSE(launch.label.reasons[1].at_least);
  EXPECT_EQ(launch.label.reasons[1].threshold, 50);
}

TEST(Label, OtherRulesThatHoldAreFurtherLabels) {
  LaunchProfile launch = launches().at("register_spills");
  label_launch(launch, rules());
  std::vector<std::string> further;
  for (const Label& label : launch.further) further.push_back(label.id);
  EXPECT_THAT(further, Contains("dram_bound"));
  EXPECT_THAT(further, Not(Contains("register_spills")));
}

TEST(Label, WithoutCountersItIsUnknownAndSaysWhich) {
  LaunchProfile launch;
  label_launch(launch, rules());
  EXPECT_EQ(launch.label.id, "unknown");
  EXPECT_THAT(launch.label.because, HasSubstr("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"));
}

TEST(Label, TheCallHasTheLabelWithMostTime) {
  Profile profile;
  for (auto& [kernel, launch] : launches())
    if (kernel == "dram_copy" || kernel == "l2_read" || kernel == "async_copies") {
      label_launch(launch, rules());
      profile.launches.push_back(launch);
      profile.total_ns += launch.ns;
    }
  label_call(profile, rules());
  EXPECT_EQ(profile.label.id, "dram_bound");
}

TEST(Label, ManyShortLaunchesAreTheHostsMatter) {
  Profile profile;
  profile.launches.resize(6);
  profile.total_ns = 6 * 2000;
  label_call(profile, rules());
  EXPECT_EQ(profile.label.id, "host_launch");
  profile.total_ns = 6 * 20000;
  label_call(profile, rules());
  EXPECT_EQ(profile.label.id, "unknown");
}

TEST(Label, RulesThatCannotBeReadAreAllNamed) {
  const auto read = read_label_rules(R"([{"id": "x", "meaning": "m", "because": "b", "all": [{"counter": "c"}]}, {"id": "y"}])", "labels.json");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().what, HasSubstr("labels.json: [0].all[0].at_least: expected exactly one of at_least and at_most"));
  EXPECT_THAT(read.error().what, HasSubstr("labels.json: [1].meaning"));
}

const RooflinePart* part(const LaunchProfile& launch, const std::string& resource) {
  for (const RooflinePart& part : launch.roofline)
    if (part.resource == resource) return &part;
  return nullptr;
}

TEST(Roofline, AgainstTheProfilersPeak) {
  const auto all = launches();
  const RooflinePart* dram = part(all.at("dram_copy"), "dram");
  ASSERT_TRUE(dram);
  EXPECT_NEAR(dram->achieved, 3.7515e12, 1e9);  // (134227456 + 112233216) bytes in 65696 ns
  EXPECT_NEAR(dram->ceiling, 1504 * 3.19784e9, 1e8);
  EXPECT_NEAR(dram->achieved / dram->ceiling, 0.78, 0.001);  // as gpu__dram_throughput says
  // 2 * 64 * 64 * 16 * 4 * 512 * 528 operations in 155232 ns.
  const RooflinePart* tensor = part(all.at("wgmma_loop"), "tensor bf16");
  ASSERT_TRUE(tensor);
  EXPECT_NEAR(tensor->achieved, 913.0e12, 0.1e12);
  EXPECT_GT(tensor->achieved / tensor->ceiling, 0.95);
  EXPECT_LT(tensor->achieved / tensor->ceiling, 1.0);
  const RooflinePart* f32 = part(all.at("fma_chain"), "f32");
  ASSERT_TRUE(f32);
  EXPECT_NEAR(f32->achieved / f32->ceiling, 15705.90 / 16896, 0.001);
}

TEST(Roofline, AgainstAMeasuredCeiling) {
  const auto parts = roofline_of(launches().at("dram_copy"), {{"dram", 4.55e12}});
  ASSERT_FALSE(parts.empty());
  EXPECT_EQ(parts[0].ceiling, 4.55e12);
  EXPECT_EQ(parts[0].ceiling_from, "measured on this machine");
}

TEST(NcuLog, OfAGoodRun) {
  const NcuLog log = parse_ncu_log(captured("ncu_log.txt"));
  EXPECT_EQ(log.launches, 19);
  EXPECT_THAT(log.errors, IsEmpty());
  EXPECT_THAT(log.warnings, Contains(StartsWith("Unable to access the following 6 metrics")));
  EXPECT_TRUE(check_ncu_run(log, 0, ""));
}

TEST(NcuLog, WhatWentWrong) {
  const auto failure = [](const std::string& file, int exit_code) {
    const Status status = check_ncu_run(parse_ncu_log(captured(file)), exit_code, "");
    EXPECT_FALSE(status) << file;
    return status ? "" : status.error().what;
  };
  EXPECT_THAT(failure("ncu_no_kernels.txt", 0), HasSubstr("no kernel was launched"));
  EXPECT_THAT(failure("ncu_filtered.txt", 0), HasSubstr("no kernel was launched"));
  EXPECT_EQ(failure("ncu_illegal_access.txt", 9), "ncu: An error was reported by the driver:; LaunchFailed; The application returned an error code (9).");
  EXPECT_THAT(failure("ncu_absent.txt", 1), HasSubstr("does not exist or is not an executable"));
  EXPECT_EQ(failure("ncu_bad_import.txt", 1), "ncu: Failed to load report file 'host.c'.; The file is not an Nsight Compute profiler report.");
  EXPECT_THAT(failure("ncu_timeout.txt", 124), HasSubstr("Failed to profile \"dram_copy\""));
}

// Not captured: the machine at hand lets everyone read the counters. The text is that of the manual.
TEST(NcuLog, WithoutPermissionTheRemedyIsNamed) {
  const NcuLog log = parse_ncu_log(
      "==PROF== Connected to process 17 (/x/y)\n==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the "
      "target device 0. For instructions on enabling permissions and to get more information see https://developer.nvidia.com/ERR_NVGPUCTRPERM\n");
  const Status status = check_ncu_run(log, 1, "");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().what, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(status.error().blame, Blame::machine);
}

TEST(NcuLog, Version) {
  EXPECT_EQ(ncu_version(captured("ncu_version.txt")), "2025.3.1.0");
  EXPECT_EQ(ncu_version("?"), "");
}

}  // namespace
}  // namespace whet
