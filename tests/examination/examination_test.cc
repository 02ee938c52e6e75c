// SPDX-License-Identifier: Apache-2.0
// The admission of workloads with a real reference in its jail: what is examined on the first workload of a family, what on those after it, and what
// becomes of a reference that its twin contradicts.
#include "truth/judge/examination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "truth/judge/host_memory.h"
#include "truth/machine/cpu.h"

namespace whet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Definition product() {
  Definition definition;
  definition.name = "product";
  for (const char* axis : {"rows", "inner", "columns"}) definition.axes.push_back({axis, std::nullopt, ""});
  definition.inputs = {{"x", std::vector<std::string>{"rows", "inner"}, Dtype::float32, "", Role::activation},
                       {"y", std::vector<std::string>{"inner", "columns"}, Dtype::float32, "", Role::activation},
                       {"alpha", std::nullopt, Dtype::float32, "", Role::activation},
                       {"hint", std::nullopt, Dtype::int64, "", Role::activation}};
  definition.outputs = {{"o", std::vector<std::string>{"rows", "columns"}, Dtype::float32, "", Role::activation}};
  return definition;
}

Workload workload(const std::string& name, int64_t rows) {
  Workload workload;
  workload.name = name;
  workload.family = "f";
  workload.definition = "product";
  workload.axes = {{"rows", rows}, {"inner", 40}, {"columns", 33}};
  workload.inputs["x"] = workload.inputs["y"] = {};
  workload.inputs["alpha"] = {InputSource::Kind::scalar, 0.5, "", "", {}};
  workload.inputs["hint"] = {InputSource::Kind::scalar, int64_t{64}, "", "", {}};
  workload.tolerance = {1e-5, 1e-5, 1e-5};
  return workload;
}

class Examined {
 public:
  explicit Examined(const std::string& artifact) : reference_(contestant(artifact)), twin_{contestant(artifact), {}} {}

  const Admission& operator()(const Workload& workload) {
    const Definition definition = product();
    admissions_.push_back(examine(memory_, definition, workload, *reference_, twin_, settled_mutants(admissions_, workload.family)));
    return admissions_.back();
  }
  const std::vector<Admission>& admissions() const { return admissions_; }
  const ReferenceTwin& twin() const { return twin_; }

 private:
  static std::unique_ptr<Contestant> contestant(const std::string& artifact) {
    RunnerOptions options;
    options.program = WHET_BINARY_DIR "/bin/whet-worker";
    options.artifact = std::string(WHET_BINARY_DIR "/tests/") + artifact;
    options.cores = {allowed_cores().front()};
    return std::make_unique<Contestant>("reference", options, true);
  }

  HostMemory memory_;
  std::unique_ptr<Contestant> reference_;
  ReferenceTwin twin_;
  std::vector<Admission> admissions_;
};

// "mutant:how it fared", those that were left out apart.
std::vector<std::string> fared(const Admission& admission) {
  std::vector<std::string> all;
  for (const MutantFinding& finding : admission.findings)
    if (!finding.left_out) all.push_back(finding.mutant + (finding.caught ? ": caught" : finding.exempt ? ": exempt" : ": passes") + (finding.settles ? ", settles" : ""));
  return all;
}
std::vector<std::string> left_out(const Admission& admission) {
  std::vector<std::string> all;
  for (const MutantFinding& finding : admission.findings)
    if (finding.left_out) all.push_back(finding.mutant);
  return all;
}

TEST(Examination, LeavesOutWhatAnotherWorkloadOfTheFamilyHasSettled) {
  Examined examined("examined_product.so");
  const Admission first = examined(workload("first", 5));
  EXPECT_EQ(first.problem, "");
  EXPECT_THAT(fared(first), ElementsAre("zeros: caught", "mean: caught", "stale: caught", "skips the tail: caught", "skips the tail along rows: caught", "skips the tail along columns: caught",
                                        "passes x through: caught", "passes y through: caught", "ignores x: caught, settles", "ignores the tail of x along rows: caught, settles",
                                        "ignores the tail of x along inner: caught", "ignores y: caught, settles", "ignores the tail of y along inner: caught",
                                        "ignores the tail of y along columns: caught, settles", "lower precision: caught", "ignores alpha: caught, settles", "ignores hint: exempt, settles"));
  const Admission second = examined(workload("second", 7));
  EXPECT_EQ(second.problem, "");
  EXPECT_THAT(left_out(second), ElementsAre("ignores x", "ignores the tail of x along rows", "ignores y", "ignores the tail of y along columns", "ignores alpha"));
  EXPECT_THAT(fared(second), testing::Contains("ignores hint: exempt, settles"));
  const Admission third = examined(workload("third", 9));
  EXPECT_THAT(left_out(third), testing::Contains("ignores hint"));
  EXPECT_THAT(fared(third), testing::IsSupersetOf({"ignores the tail of x along inner: caught", "ignores the tail of y along inner: caught", "lower precision: caught"}));
  std::vector<std::string> remarks;
  EXPECT_THAT(refused(examined.admissions(), remarks), IsEmpty());
  EXPECT_THAT(families_in_doubt(examined.admissions()), IsEmpty());
}

TEST(Examination, AToleranceThatLetsMutantsPassIsRefused) {
  Examined examined("examined_product.so");
  Workload loose = workload("loose", 5);
  loose.tolerance = {1e-3, 1e-3, -1};
  examined(loose);
  std::vector<std::string> remarks;
  const auto refusals = refused(examined.admissions(), remarks);
  ASSERT_EQ(refusals.size(), 1U);
  EXPECT_THAT(refusals[0].second, HasSubstr("an answer that lower precision passes"));
}

TEST(Examination, AReferenceThatItsTwinContradictsIsRefused) {
  Examined examined("examined_product_off.so");  // by a part in 4000
  const Admission& admission = examined(workload("first", 5));
  EXPECT_FALSE(admission.machine_failed);
  EXPECT_THAT(admission.problem, HasSubstr("the reference is not right here: o differs from that of its entry product.f64 in "));
  EXPECT_THAT(admission.problem, HasSubstr("the norm of the difference at 25 of what is allowed of it (at most 0.1 each)"));
  Examined tolerant("examined_product_off.so");
  Workload wide = workload("wide", 5);
  wide.tolerance = {5e-3, 5e-3, 5e-3};
  EXPECT_EQ(tolerant(wide).problem, "") << "a twentieth of the tolerance";
}

TEST(Examination, AReferenceWithoutATwinIsTakenAtItsWord) {
  Examined examined("examined_product_alone.so");
  EXPECT_EQ(examined(workload("first", 5)).problem, "");
  EXPECT_THAT(examined.twin().absent, ElementsAre("product"));
}

}  // namespace
}  // namespace whet
