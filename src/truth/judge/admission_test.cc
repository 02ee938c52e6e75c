// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_impl.h"

namespace whet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

MutantFinding caught(const std::string& mutant, bool settles = false) { return {mutant, "", true, false, 5, settles, false}; }
MutantFinding passes(const std::string& mutant, const std::string& group = "") { return {mutant, group, false, false, 0.5, false, false}; }
MutantFinding idle(const std::string& mutant) { return {mutant, mutant, false, true, 0, true, false}; }
MutantFinding left_out(const std::string& mutant, const std::string& group = "") { return {mutant, group, false, false, 0, false, true}; }

Admission admission(const std::string& workload, const std::string& family, std::vector<MutantFinding> findings) {
  return {workload, family, "", false, std::move(findings)};
}

TEST(Admission, WhatOneWorkloadSettlesHoldsForItsFamily) {
  const std::vector<Admission> admissions = {admission("a", "f", {caught("ignores k", true), caught("zeros"), idle("ignores max_q"), passes("ignores v", "ignores v")}),
                                             admission("b", "f", {idle("ignores max_q")}), admission("c", "g", {caught("ignores cap", true), idle("ignores max_k")})};
  EXPECT_THAT(settled_mutants(admissions, "f"), UnorderedElementsAre("ignores k", "ignores max_q"));
  EXPECT_THAT(settled_mutants(admissions, "g"), UnorderedElementsAre("ignores cap")) << "a scalar that changed nothing once may change something next time";
  EXPECT_THAT(settled_mutants(admissions, "h"), IsEmpty());
}

// An admission may come from a cache that an earlier judgement wrote, with other workloads beside it.
TEST(Admission, WhatWasLeftOutStandsOnlyWithWhatSettlesIt) {
  const Admission one = admission("a", "f", {caught("zeros"), left_out("ignores k", "ignores k")});
  EXPECT_TRUE(stands_with(one, {"ignores k", "ignores v"}));
  EXPECT_FALSE(stands_with(one, {"ignores v"}));
  EXPECT_TRUE(stands_with(admission("b", "f", {caught("zeros")}), {}));
}

TEST(Admission, RefusesWhatPassesUnlessItsGroupIsCaughtInTheFamily) {
  MutantFinding grouped = caught("ignores k");
  grouped.group = "ignores k";
  const std::vector<Admission> admissions = {admission("a", "f", {grouped, left_out("ignores cap", "ignores cap")}), admission("b", "f", {passes("ignores k", "ignores k")}),
                                             admission("c", "g", {passes("ignores k", "ignores k")}), admission("d", "g", {passes("mean")})};
  std::vector<std::string> remarks;
  const auto refusals = refused(admissions, remarks);
  ASSERT_EQ(refusals.size(), 2U);
  EXPECT_EQ(refusals[0].first, "c");
  EXPECT_EQ(refusals[1], (std::pair<std::string, std::string>{"d", "an answer that mean passes (its worst element is at 0.5 of the tolerance)"}));
  EXPECT_THAT(families_in_doubt(admissions), ElementsAre("g"));
}

TEST(Admission, IsReadAsItWasWritten) {
  Admission before = admission("a", "f", {caught("zeros"), idle("ignores max_q"), left_out("ignores k", "ignores k")});
  before.problem = "p";
  const auto after = admission_from_json(to_json(before), "file");
  ASSERT_TRUE(after) << after.error().what;
  EXPECT_EQ(to_json(*after).dump(), to_json(before).dump());
  EXPECT_TRUE(after->findings[2].left_out);
  EXPECT_TRUE(after->findings[1].settles);
  EXPECT_EQ(after->problem, "p");
}

}  // namespace
}  // namespace whet
