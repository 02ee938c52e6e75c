// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/sass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace whet {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string captured(const std::string& name) {
  auto text = read_file(std::string(WHET_SOURCE_DIR) + "/src/truth/profile/testdata/" + name);
  EXPECT_TRUE(text) << text.error().what;
  return text.value_or("");
}

const SassKernel& named(const std::vector<SassKernel>& kernels, const std::string& symbol) {
  for (const SassKernel& kernel : kernels)
    if (kernel.symbol == symbol) return kernel;
  static const SassKernel none;
  ADD_FAILURE() << "no function " << symbol;
  return none;
}

TEST(Sass, FunctionsAndTheirMix) {
  const auto kernels = parse_sass(captured("sass.txt"));
  ASSERT_EQ(kernels.size(), 4u);
  const SassKernel& small = named(kernels, "_ZN6spaced5namedIfLi3EEEvPT_");
  EXPECT_EQ(small.name, "void spaced::named<float, 3>(float*)");
  EXPECT_EQ(small.architecture, "sm_90a");
  EXPECT_EQ(small.instructions, 9);  // LDC S2R LDC HFMA2 ULDC IMAD STG EXIT BRA; the NOPs behind are filling
  EXPECT_EQ(small.opcodes.at("IMAD.WIDE.U32"), 1);
  EXPECT_EQ(small.classes.at("global store"), 1);
  EXPECT_EQ(small.classes.count("local memory"), 0u);

  const SassKernel& tma = named(kernels, "tma_only");
  EXPECT_EQ(tma.classes.at("bulk copy"), 3);  // UTMALDG, UTMASTG, UTMACMDFLUSH
  EXPECT_EQ(tma.classes.at("matrix load/store"), 2);
  EXPECT_EQ(tma.opcodes.at("UTMALDG.2D"), 1);
  EXPECT_GE(tma.classes.at("f64"), 1);
  EXPECT_EQ(named(kernels, "wgmma_loop").classes.count("tensor"), 1u);
  EXPECT_EQ(named(kernels, "async_copies").opcodes.count("UBLKCP"), 0u);  // UBLKCP.S.G
  EXPECT_GE(named(kernels, "async_copies").classes.at("bulk copy"), 1);
}

// Two programs that disassemble the same code.
TEST(Sass, NvdisasmSaysTheSame) {
  const auto ours = parse_sass(captured("sass.txt")), other = parse_sass(captured("nvdisasm.txt"));
  ASSERT_EQ(other.size(), ours.size());
  for (const SassKernel& kernel : ours) {
    EXPECT_EQ(named(other, kernel.symbol).opcodes, kernel.opcodes) << kernel.symbol;
    EXPECT_EQ(named(other, kernel.symbol).instructions, kernel.instructions) << kernel.symbol;
    EXPECT_EQ(named(other, kernel.symbol).architecture, "sm_90a");
  }
}

TEST(Sass, SpillsAreShownAsTheyStand) {
  const auto kernels = parse_sass(captured("sass_spills.txt"));
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_GT(kernels[0].classes.at("local memory"), 100);
  EXPECT_EQ(kernels[0].local_memory.size(), 40u);
  EXPECT_THAT(kernels[0].local_memory[0], StartsWith("STL"));
}

TEST(Sass, ResourceUsage) {
  auto kernels = parse_sass(captured("sass.txt"));
  add_resource_usage(kernels, captured("res_usage.txt"));
  EXPECT_EQ(named(kernels, "tma_only").registers, 16);
  EXPECT_EQ(named(kernels, "tma_only").shared_bytes, 5136);
  EXPECT_EQ(named(kernels, "tma_only").stack_bytes, 0);
}

TEST(Sass, EveryOpcodeOfTheCapturedKernelsHasAClass) {
  for (const char* file : {"sass.txt", "sass_spills.txt", "sass_variant.txt"})
    for (const SassKernel& kernel : parse_sass(captured(file))) EXPECT_EQ(kernel.classes.count("other"), 0u) << kernel.symbol;
}

TEST(Sass, Classes) {
  EXPECT_EQ(class_of("HGMMA.64x64x16.F32.BF16"), "tensor");
  EXPECT_EQ(class_of("QGMMA"), "tensor");
  EXPECT_EQ(class_of("UTCHMMA"), "tensor");
  EXPECT_EQ(class_of("MUFU.EX2"), "special function");
  EXPECT_EQ(class_of("LDGSTS.E.BYPASS.128"), "async copy");
  EXPECT_EQ(class_of("LDG.E.128"), "global load");
  EXPECT_EQ(class_of("LDSM.16.M88.4"), "matrix load/store");
  EXPECT_EQ(class_of("LDS.64"), "shared load");
  EXPECT_EQ(class_of("STL.64"), "local memory");
  EXPECT_EQ(class_of("UIADD3"), "uniform datapath");
  EXPECT_EQ(class_of("SOMETHING"), "other");
  for (const char* opcode : {"HGMMA", "NEW", "BRA"}) EXPECT_THAT(sass_classes(), Contains(std::string(class_of(opcode))));
}

TEST(SassDifference, WhatChangedBetweenTwoCandidates) {
  int64_t same = 0;
  const auto all = difference(parse_sass(captured("sass.txt")), parse_sass(captured("sass_variant.txt")), same);
  EXPECT_EQ(same, 3);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "async_copies");
  EXPECT_EQ(all[0].only_in, "");
  const auto change = [&](const std::string& what) {
    for (const CountChange& found : all[0].classes)
      if (found.what == what) return found;
    return CountChange{};
  };
  EXPECT_EQ(change("async copy").before, 0);
  EXPECT_GT(change("async copy").after, 0);
  EXPECT_GT(change("bulk copy").before, 0);
  EXPECT_EQ(change("bulk copy").after, 0);
}

SassKernel kernel(const std::string& name, int64_t instructions) { return {name, name, "sm_90a", instructions, {{"integer", instructions}}, {{"IADD3", instructions}}}; }

TEST(SassDifference, NewAndGone) {
  int64_t same = 0;
  const auto all = difference({kernel("a", 3), kernel("b", 4)}, {kernel("a", 3), kernel("c", 5)}, same);
  EXPECT_EQ(same, 1);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].only_in, "before");
  EXPECT_EQ(all[1].only_in, "after");
  EXPECT_THAT(all[1].opcodes, ElementsAre(CountChange{"IADD3", 0, 5}));
}

TEST(SassDifference, AnotherTemplateArgumentIsTheSameKernel) {
  int64_t same = 0;
  const auto all = difference({kernel("void f<3>(float*)", 3)}, {kernel("void f<4>(float*)", 8)}, same);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].only_in, "");
  EXPECT_EQ(all[0].before, 3);
  EXPECT_EQ(all[0].after, 8);
}

TEST(SassFailure, SaysWhatIsMissing) {
  EXPECT_THAT(disassembler_failure(255, captured("sass_host_only.txt")).what, StartsWith("the built library has no device code"));
  EXPECT_EQ(disassembler_failure(1, captured("sass_absent.txt")).what, "cuobjdump: exit code 1: cuobjdump fatal   : Could not open input file '/tmp/capture/absent.so'");
}

TEST(Sass, NothingAndNonsense) {
  EXPECT_THAT(parse_sass(""), IsEmpty());
  EXPECT_THAT(parse_sass("/*0000*/ MOV R1 ;\n/*zz*/\n"), IsEmpty());
}

}  // namespace
}  // namespace whet
