// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/sanitizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace whet {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Outcome = SanitizerReport::Outcome;

std::string captured(const std::string& name) {
  auto text = read_file(std::string(WHET_SOURCE_DIR) + "/src/truth/profile/testdata/" + name + ".txt");
  EXPECT_TRUE(text) << text.error().what;
  return text.value_or("");
}

TEST(Sanitizer, CleanRuns) {
  for (const char* tool : {"memcheck", "racecheck", "initcheck", "synccheck"}) {
    const SanitizerReport report = parse_sanitizer(tool, captured(std::string(tool) + "_clean"), 0);
    EXPECT_EQ(report.outcome, Outcome::clean) << tool;
    EXPECT_THAT(report.findings, IsEmpty());
    EXPECT_EQ(report.sentence, std::string(tool) + " found nothing");
  }
}

TEST(Sanitizer, FourThreadsAreOneFinding) {
  const SanitizerReport report = parse_sanitizer("memcheck", captured("memcheck_misaligned"), 86);
  EXPECT_EQ(report.outcome, Outcome::found);
  ASSERT_EQ(report.findings.size(), 2u);  // and the calls that failed after it
  const SanitizerFinding& finding = report.findings[0];
  EXPECT_EQ(finding.kind, "Invalid __global__ write");
  EXPECT_EQ(finding.bytes, 4);
  EXPECT_EQ(finding.kernel, "misaligned(char *)");
  EXPECT_EQ(finding.place, "planted.cu:10");
  EXPECT_EQ(finding.thread, "(0,0,0)");
  EXPECT_EQ(finding.block, "(0,0,0)");
  EXPECT_EQ(finding.address, "0x7f1540800001");
  EXPECT_EQ(finding.detail, "is misaligned, and is inside the nearest allocation at 0x7f1540800000 of size 512 bytes");
  EXPECT_EQ(finding.times, 4);
  EXPECT_EQ(report.findings[1].kind, "API error");
  EXPECT_GT(report.findings[1].times, 1);
}

TEST(Sanitizer, ThePlaceOfTheCallerWhereTheFunctionItselfHasNone) {
  const SanitizerReport report = parse_sanitizer("memcheck", captured("memcheck_reads_past_the_end"), 86);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].kind, "Invalid __global__ read");
  EXPECT_EQ(report.findings[0].kernel, "[clone reads_past_the_end(const float *, float *)] inner(const float *, int)");
  EXPECT_EQ(report.findings[0].place, "planted.cu:9");
  EXPECT_THAT(report.findings[0].detail, HasSubstr("385 bytes after the nearest allocation"));
}

TEST(Sanitizer, OtherFindingsOfMemcheck) {
  const auto first = [](const std::string& file) {
    const SanitizerReport report = parse_sanitizer("memcheck", captured(file), 86);
    EXPECT_EQ(report.outcome, Outcome::found) << file;
    return report.findings.empty() ? SanitizerFinding{} : report.findings[0];
  };
  EXPECT_EQ(first("memcheck_null_pointer").address, "0x0");
  EXPECT_EQ(first("memcheck_shared_past_the_end").kind, "Invalid __shared__ write");
  EXPECT_EQ(first("memcheck_bad_call").kind, "API error");
  EXPECT_THAT(first("memcheck_bad_call").sentence, HasSubstr("cudaErrorInvalidValue"));
  EXPECT_EQ(first("memcheck_leak").kind, "Leak");
  EXPECT_EQ(first("memcheck_leak").bytes, 512);
}

TEST(Sanitizer, RacesInBothReports) {
  const SanitizerReport analysis = parse_sanitizer("racecheck", captured("racecheck_race"), 86);
  EXPECT_EQ(analysis.outcome, Outcome::found);
  EXPECT_EQ(analysis.errors, 1);
  ASSERT_EQ(analysis.findings.size(), 1u);
  EXPECT_EQ(analysis.findings[0].kind, "Race");
  EXPECT_EQ(analysis.findings[0].kernel, "race(float *)");
  EXPECT_EQ(analysis.findings[0].place, "planted.cu:13");
  EXPECT_EQ(analysis.findings[0].detail, "and Read access at race(float *)+0xd0 in planted.cu:13 [512 hazards]");
  const SanitizerReport hazards = parse_sanitizer("racecheck", captured("racecheck_all_race"), 86);
  ASSERT_FALSE(hazards.findings.empty());
  EXPECT_EQ(hazards.findings[0].kernel, "race(float *)");
  EXPECT_EQ(hazards.findings[0].address, "0x580");
  EXPECT_EQ(parse_sanitizer("racecheck", captured("racecheck_race_write"), 86).outcome, Outcome::found);
}

TEST(Sanitizer, UninitialisedReads) {
  const SanitizerReport report = parse_sanitizer("initcheck", captured("initcheck_uninitialised"), 86);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].kind, "Uninitialized __global__ memory read");
  EXPECT_EQ(report.findings[0].address, "0x7f71e4800500");
  EXPECT_EQ(report.findings[0].place, "planted.cu:15");
  EXPECT_EQ(report.findings[0].times, 4);
}

TEST(Sanitizer, AToolThatSaysNothingIsNoFinding) {
  const auto failed = [](const std::string& file, int exit_code) {
    const SanitizerReport report = parse_sanitizer("memcheck", captured(file), exit_code);
    EXPECT_EQ(report.outcome, Outcome::failed) << file;
    EXPECT_THAT(report.findings, IsEmpty());
    return report.sentence;
  };
  EXPECT_EQ(failed("memcheck_absent", 1), "memcheck says nothing about the Solution: Target application doesn't exist or is not a valid executable (exit code 1)");
  EXPECT_EQ(failed("memcheck_no_cuda", 255),
            "memcheck says nothing about the Solution: Error: Target application terminated before first instrumented API call (exit code 255)");
  EXPECT_THAT(failed("memcheck_returns_5", 5), HasSubstr("Target application returned an error (exit code 5)"));
  EXPECT_THAT(failed("memcheck_aborts", 6), HasSubstr("process didn't terminate successfully"));
}

TEST(Sanitizer, WithoutASummaryItDidNotEnd) {
  EXPECT_EQ(parse_sanitizer("memcheck", "========= COMPUTE-SANITIZER\n", 0).outcome, Outcome::failed);
  EXPECT_EQ(parse_sanitizer("memcheck", "", -1).sentence, "memcheck says nothing about the Solution: it had not ended at its time limit");
}

// What the program itself prints does not make it clean: the tool's own exit code says that it found something.
TEST(Sanitizer, AForgedSummaryDoesNotHelp) {
  EXPECT_EQ(parse_sanitizer("memcheck", "========= ERROR SUMMARY: 0 errors\n", kSanitizerFound).outcome, Outcome::found);
}

TEST(Sanitizer, Version) { EXPECT_EQ(sanitizer_version(captured("compute_sanitizer_version")), "2025.3.1.0"); }

}  // namespace
}  // namespace whet
