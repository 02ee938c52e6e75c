// SPDX-License-Identifier: Apache-2.0
#include "truth/machine/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json_impl.h"

namespace whet {
namespace {

using testing::ElementsAre;

TEST(CoreList, IsParsed) {
  EXPECT_THAT(parse_core_list("0-2,5"), ElementsAre(0, 1, 2, 5));
  EXPECT_THAT(parse_core_list("7\n"), ElementsAre(7));
  EXPECT_THAT(parse_core_list("x,,3"), ElementsAre(3));
}

TEST(Cpu, DescribesThisMachine) {
  const CpuFacts facts = describe_cpu("Haswell");
  EXPECT_FALSE(facts.cores.empty());
  EXPECT_FALSE(facts.kernel.empty());
  EXPECT_FALSE(facts.glibc.empty());
  EXPECT_GT(facts.memory_bytes, 0u);
  EXPECT_EQ(to_json(facts).at("openblas_coretype"), "Haswell");
#if defined(__x86_64__)
  EXPECT_FALSE(facts.model.empty());
#endif
}

TEST(Cpu, ReadsWhatTheSystemReports) {
  const auto root = TemporaryDirectory::make("whet-machine-test").value();
  const std::string core = "sys/devices/system/cpu/cpu" + std::to_string(allowed_cores().front());
  ASSERT_TRUE(
      write_tree(root.path(), {{"proc/cpuinfo",
                                "processor : 0\nvendor_id : GenuineIntel\nmodel name : Some CPU\ncpu MHz : 2100.5\n"
                                "flags : fpu avx2 amx_bf16 rdtscp\n\nprocessor : 1\nmodel name : Other\n"},
                               {core + "/cache/index0/level", "3\n"},
                               {core + "/cache/index0/type", "Unified\n"},
                               {core + "/cache/index0/size", "520192K\n"},
                               {core + "/cpufreq/scaling_governor", "powersave\n"},
                               {core + "/cpufreq/cpuinfo_max_freq", "3500000\n"},
                               {"sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"},
                               {"sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"}}));
  const CpuFacts facts = describe_cpu("", root.path());
  EXPECT_EQ(facts.model, "Some CPU");
  EXPECT_EQ(facts.vendor, "GenuineIntel");
  EXPECT_DOUBLE_EQ(facts.mhz_now, 2100.5);
  EXPECT_THAT(facts.features, ElementsAre("avx2", "amx_bf16"));
  ASSERT_EQ(facts.caches.size(), 1u);
  EXPECT_EQ(facts.caches[0].bytes, uint64_t{508} << 20);
  EXPECT_EQ(facts.governor, "powersave");
  EXPECT_DOUBLE_EQ(facts.mhz_max, 3500);
  EXPECT_EQ(facts.turbo, "on");
  EXPECT_EQ(facts.huge_pages, "madvise");
  EXPECT_EQ(facts.hypervisor, "");
}

TEST(Cpu, OpenblasKernelsGoByTheInstructionSet) {
  EXPECT_EQ(openblas_kernels_for({}), "");
  EXPECT_EQ(openblas_kernels_for({"avx", "avx2"}), "");
  EXPECT_EQ(openblas_kernels_for({"avx2", "fma"}), "Haswell");
  EXPECT_EQ(openblas_kernels_for({"avx2", "fma", "avx512f"}), "Haswell");
  EXPECT_EQ(openblas_kernels_for({"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl"}), "SkylakeX");
  EXPECT_EQ(openblas_kernels_for({"avx2", "fma", "avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_bf16"}), "Cooperlake");
}

}  // namespace
}  // namespace whet
