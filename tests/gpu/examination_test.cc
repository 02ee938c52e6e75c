// SPDX-License-Identifier: Apache-2.0
// The admission of a workload on a device finds what that on the CPU finds, of references that compute the same bits.
#include "truth/judge/examination.h"

#include <cmath>

#include "tests/gpu/device.h"
#include "truth/gpu/gpu_facts.h"
#include "truth/judge/gpu_memory.h"
#include "truth/judge/host_memory.h"
#include "truth/machine/cpu.h"

namespace whet {
namespace {

Definition product(const std::string& name, Dtype dtype) {
  Definition definition;
  definition.name = name;
  for (const char* axis : {"rows", "inner", "columns"}) definition.axes.push_back({axis, std::nullopt, ""});
  definition.inputs = {{"x", std::vector<std::string>{"rows", "inner"}, Dtype::float32, "", Role::activation},
                       {"y", std::vector<std::string>{"inner", "columns"}, Dtype::float32, "", Role::activation},
                       {"alpha", std::nullopt, Dtype::float32, "", Role::activation},
                       {"hint", std::nullopt, Dtype::int64, "", Role::activation}};
  definition.outputs = {{"o", std::vector<std::string>{"rows", "columns"}, dtype, "", Role::activation}};
  return definition;
}

Workload workload(const Definition& definition, int64_t rows, double tolerance) {
  Workload workload;
  workload.name = "rows-" + std::to_string(rows);
  workload.family = "f";
  workload.definition = definition.name;
  workload.axes = {{"rows", rows}, {"inner", 40}, {"columns", 33}};
  workload.inputs["x"] = workload.inputs["y"] = {};
  workload.inputs["alpha"] = {InputSource::Kind::scalar, 0.5, "", "", {}};
  workload.inputs["hint"] = {InputSource::Kind::scalar, int64_t{64}, "", "", {}};
  workload.tolerance = {tolerance, tolerance, tolerance};
  return workload;
}

std::unique_ptr<Contestant> contestant(const char* artifact, bool on_gpu) {
  RunnerOptions options;
  options.program = WHET_BINARY_DIR "/bin/whet-worker";
  options.artifact = std::string(WHET_BINARY_DIR "/tests/") + artifact;
  options.environment = {{"LANG", "C.UTF-8"}};
  options.cores = {allowed_cores().front()};
  if (on_gpu) {
    options.cores = allowed_cores();
    options.memory_bytes = uint64_t{32} << 30;
    options.max_tasks = 512;
    options.freezes = false;
    const auto gpus = describe_gpus();
    options.gpu = RunnerGpu{gpus->front().uuid, cuda::device_files(), (*cuda::driver())->folder};
  }
  return std::make_unique<Contestant>("reference", options, true);
}

// Both memories, one workload after the other.
class Sides {
 public:
  Sides() : on_cpu_(contestant("examined_product.so", false)), on_gpu_(contestant("gpu_product.so", true)), twin_of_cpu_{contestant("examined_product.so", false), {}},
            twin_of_gpu_{contestant("gpu_product.so", true), {}} {
    auto opened = GpuMemory::open(0, "");  // no NVML: nothing is timed here
    EXPECT_TRUE(opened) << opened.error().what;
    device_memory_ = std::move(*opened);
  }
  void examine_both(const Definition& definition, const Workload& workload) {
    cpu.push_back(examine(host_memory_, definition, workload, *on_cpu_, twin_of_cpu_, settled_mutants(cpu, "f")));
    gpu.push_back(examine(*device_memory_, definition, workload, *on_gpu_, twin_of_gpu_, settled_mutants(gpu, "f")));
    ASSERT_OK(device_memory_->health());
  }
  Admission examine_on_gpu(const Definition& definition, const Workload& workload) { return examine(*device_memory_, definition, workload, *on_gpu_, twin_of_gpu_, {}); }
  const ReferenceTwin& twin() const { return twin_of_gpu_; }
  std::vector<Admission> cpu, gpu;

 private:
  HostMemory host_memory_;
  std::unique_ptr<GpuMemory> device_memory_;
  std::unique_ptr<Contestant> on_cpu_, on_gpu_;
  ReferenceTwin twin_of_cpu_, twin_of_gpu_;
};

TEST(DeviceExamination, FindsWhatTheCpuFinds) {
  for (const Dtype dtype : {Dtype::float32, Dtype::bfloat16, Dtype::float16}) {
    SCOPED_TRACE(name_of(dtype));
    const Definition definition = product("product", dtype);
    Sides sides;
    for (const int64_t rows : {int64_t{5}, int64_t{700}, int64_t{33}}) sides.examine_both(definition, workload(definition, rows, dtype == Dtype::float32 ? 1e-5 : 2e-2));
    for (size_t i = 0; i < sides.cpu.size(); ++i) {
      SCOPED_TRACE(sides.cpu[i].workload);
      EXPECT_EQ(sides.gpu[i].problem, "");
      EXPECT_EQ(sides.cpu[i].problem, "");
      ASSERT_EQ(sides.gpu[i].findings.size(), sides.cpu[i].findings.size());
      for (size_t j = 0; j < sides.cpu[i].findings.size(); ++j) {
        const MutantFinding &a = sides.gpu[i].findings[j], &b = sides.cpu[i].findings[j];
        SCOPED_TRACE(b.mutant);
        EXPECT_EQ(a.mutant, b.mutant);
        EXPECT_EQ(a.caught, b.caught);
        EXPECT_EQ(a.exempt, b.exempt);
        EXPECT_EQ(a.settles, b.settles);
        EXPECT_EQ(a.left_out, b.left_out);
        EXPECT_TRUE(a.bound == b.bound || std::fabs(a.bound - b.bound) <= 1e-5 * std::fabs(b.bound)) << a.bound << " " << b.bound;
      }
    }
  }
}

TEST(DeviceExamination, HoldsTheReferenceAgainstItsTwin) {
  Sides sides;
  const Definition off = product("off", Dtype::float32), alone = product("alone", Dtype::float32);
  const Admission refused = sides.examine_on_gpu(off, workload(off, 5, 1e-5));
  EXPECT_NE(refused.problem.find("the norm of the difference at 25 of what is allowed of it (at most 0.1 each)"), std::string::npos) << refused.problem;
  EXPECT_EQ(sides.examine_on_gpu(alone, workload(alone, 5, 1e-5)).problem, "");
  EXPECT_TRUE(sides.twin().absent.count("alone"));
}

}  // namespace
}  // namespace whet
