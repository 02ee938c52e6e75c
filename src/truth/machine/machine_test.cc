// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/file.h"
#include "base/json_impl.h"
#include "truth/machine/ceilings.h"
#include "truth/machine/cpu.h"
#include "truth/machine/flush.h"

namespace whet {
namespace {

using testing::Contains;
using testing::ElementsAre;

// Nanoseconds to read each line once, each address depending on the value before, so that no prefetcher or overlap hides the misses.
double chase_ns(const std::vector<uint32_t>& next, size_t steps) {
  const auto begin = std::chrono::steady_clock::now();
  uint32_t at = 0;
  for (size_t i = 0; i < steps; ++i) at = next[at];
  const double ns = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(at, 0u);  // a full circle
  return ns / static_cast<double>(steps);
}

TEST(Flush, MakesReadsSlow) {
  if (flush_instruction() == "none") GTEST_SKIP() << "no instruction drops cache lines here";
  // 4096 lines in one circle of a fixed, scattered order.
  constexpr uint32_t kLines = 4096, kWordsPerLine = 16;
  std::vector<uint32_t> next(kLines * kWordsPerLine);
  for (uint32_t i = 0; i < kLines; ++i) next[(i * 1597u % kLines) * kWordsPerLine] = ((i + 1) * 1597u % kLines) * kWordsPerLine;
  double warm = 1e9, cold = 1e9;
  for (int repetition = 0; repetition < 5; ++repetition) {
    chase_ns(next, kLines);
    warm = std::min(warm, chase_ns(next, kLines));
    flush(next.data(), next.size() * sizeof(uint32_t));
    cold = std::min(cold, chase_ns(next, kLines));
  }
  EXPECT_GT(cold, 4 * warm) << "warm " << warm << " ns, flushed " << cold << " ns a line";
  RecordProperty("warm_ns", std::to_string(warm));
  RecordProperty("flushed_ns", std::to_string(cold));
}

TEST(Flush, TakesReadOnlyAndOddRangesAndKeepsContents) {
  auto* memory = static_cast<char*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  std::fill(memory, memory + 8192, 'x');
  ::mprotect(memory, 8192, PROT_READ);
  flush(memory + 3, 0);
  flush(memory + 63, 2);
  flush(memory, 8192);
  EXPECT_EQ(std::count(memory, memory + 8192, 'x'), 8192);
  ::munmap(memory, 8192);
}

TEST(Ceilings, AreMeasuredQuicklyAndPlausible) {
  const auto ceilings = measure_ceilings(allowed_cores());
  EXPECT_GT(ceilings.read_gb_per_s, 0.5);
  EXPECT_LT(ceilings.read_gb_per_s, 5000);
  EXPECT_GT(ceilings.f32_gflop_per_s, 1);
  EXPECT_EQ(ceilings.threads, static_cast<int>(allowed_cores().size()));
  EXPECT_LT(ceilings.seconds, 5);  // far less when nothing else runs
  RecordProperty("ceilings", to_json(ceilings).dump());
}

TEST(Roofline, TakesTheHigherOfMemoryAndArithmetic) {
  const Roofline roofline({.read_gb_per_s = 20, .f32_gflop_per_s = 100});
  EXPECT_DOUBLE_EQ(roofline.floor_ns(3000, 0, Dtype::float32), 100);       // 30 bytes a nanosecond with slack
  EXPECT_DOUBLE_EQ(roofline.floor_ns(3000, 30'000, Dtype::float32), 200);  // 150 operations a nanosecond
  EXPECT_DOUBLE_EQ(roofline.floor_ns(0, 60'000, Dtype::bfloat16), 100);
  EXPECT_EQ(Roofline({}).floor_ns(1e9, 1e9, Dtype::float32), 0) << "unknown ceilings accuse nobody";
  const Roofline tiles({.read_gb_per_s = 20, .f32_gflop_per_s = 100, .has_amx = true});
  EXPECT_LT(tiles.floor_ns(0, 60'000, Dtype::bfloat16), 100);
}

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
  ASSERT_TRUE(write_tree(root.path(), {{"proc/cpuinfo", "processor : 0\nvendor_id : GenuineIntel\nmodel name : Some CPU\ncpu MHz : 2100.5\n"
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

}  // namespace
}  // namespace whet
