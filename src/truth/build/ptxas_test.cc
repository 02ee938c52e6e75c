// SPDX-License-Identifier: Apache-2.0
#include "truth/build/ptxas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace whet {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

// Written by nvcc 13.0; the sources lie beside them.
PtxasReading fixture(const std::string& name) {
  return read_ptxas(read_file(WHET_SOURCE_DIR "/tests/fixtures/ptxas/" + name).value());
}

TEST(Ptxas, SpillsStacksAndSharedMemoryBelongToTheirKernels) {
  const KernelReport code = fixture("spills.txt").code;
  ASSERT_THAT(code.kernels, SizeIs(3));
  const KernelFacts &stack = code.kernels[0], &shares = code.kernels[1], &spills = code.kernels[2];
  EXPECT_EQ(stack.name, "tiles::has_a_stack(int const*, float*)");
  EXPECT_EQ(stack.stack_bytes, 256);
  EXPECT_EQ(stack.spill_store_bytes, 0);
  EXPECT_EQ(shares.symbol, "_ZN5tiles6sharesEPKfPf");
  EXPECT_EQ(shares.shared_bytes, 8192);
  EXPECT_EQ(shares.barriers, 1);
  EXPECT_EQ(shares.registers, 14);
  EXPECT_THAT(shares.advisories, IsEmpty());
  EXPECT_EQ(spills.name, "void spills<96>(float const*, float*)");
  EXPECT_EQ(spills.arch, "sm_90a");
  EXPECT_EQ(spills.registers, 32);
  EXPECT_EQ(spills.spill_store_bytes, 2048);
  EXPECT_EQ(spills.spill_load_bytes, 2760);
  EXPECT_EQ(spills.stack_bytes, 1288);
  EXPECT_THAT(spills.advisories, testing::Contains(StartsWith("Registers are spilled to local memory in function")));
  EXPECT_THAT(code.advisories, IsEmpty());
}

TEST(Ptxas, AdviceStandsWithTheKernelThatItNamesAndElseWithTheWhole) {
  const PtxasReading reading = fixture("wgmma.txt");
  ASSERT_THAT(reading.code.kernels, SizeIs(3));
  const KernelFacts &without_a_fence = reading.code.kernels[0], &across_a_call = reading.code.kernels[1], &touched_between = reading.code.kernels[2];
  EXPECT_THAT(without_a_fence.advisories, SizeIs(7));
  EXPECT_THAT(without_a_fence.advisories[6], AllOf(StartsWith("C7515: Potential Performance Loss: wgmma.mma_async instructions are serialized due to non wgmma"),
                                                  HasSubstr("_Z15without_a_fencePfmmi")));
  EXPECT_THAT(across_a_call.advisories, testing::Contains(StartsWith("C7510: Potential Performance Loss: ")));
  EXPECT_EQ(across_a_call.stack_bytes, 128) << "not that of the function that it calls, whose properties follow";
  EXPECT_THAT(touched_between.advisories, testing::ElementsAre(StartsWith("C7519: "), StartsWith("C7517: ")));
  EXPECT_THAT(reading.code.advisories, AllOf(SizeIs(2), Each(HasSubstr("inside_a_call")))) << "a function that is no kernel";
  EXPECT_THAT(reading.rest, AllOf(HasSubstr("(C7510)"), Not(HasSubstr("registers, used"))));
}

TEST(Ptxas, AKernelStandsOncePerArchitecture) {
  const KernelReport code = fixture("two_architectures.txt").code;
  ASSERT_THAT(code.kernels, SizeIs(4));
  EXPECT_EQ(code.kernels[0].arch, "sm_90a");
  EXPECT_EQ(code.kernels[2].arch, "sm_100a");
  EXPECT_EQ(code.kernels[1].name, code.kernels[3].name);
  EXPECT_EQ(code.kernels[3].registers, 8);
}

TEST(Ptxas, ErrorsAndTheWarningsOfOthersAreLeftOver) {
  const std::string log =
      "a.cu(3): warning #177-D: variable \"x\" was declared but never referenced\n"
      "ptxas info    : Used 9 registers, 12 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]\n"  // of no kernel: it began before the log did
      "ptxas warning : Value of threads per SM for entry _Z1fPi is out of range. .minnctapersm will be ignored\n"
      "ptxas info    : Compiling entry function 'plain' for 'sm_90'\n"
      "ptxas info    : Used 9 registers, 12 bytes smem, 360 bytes cmem[0], 8 bytes cmem[2]\n"
      "ptxas fatal   : Unresolved extern function '_Z7missingi'";
  const PtxasReading reading = read_ptxas(log);
  ASSERT_THAT(reading.code.kernels, SizeIs(1));
  EXPECT_EQ(reading.code.kernels[0].name, "plain");
  EXPECT_EQ(reading.code.kernels[0].shared_bytes, 12);
  EXPECT_EQ(reading.code.kernels[0].constant_bytes, 368);
  EXPECT_THAT(reading.code.advisories, testing::ElementsAre(StartsWith("Value of threads per SM")));
  EXPECT_THAT(reading.rest, AllOf(HasSubstr("#177-D"), HasSubstr("fatal"), HasSubstr("minnctapersm")));
  EXPECT_TRUE(read_ptxas("").code.empty());
  EXPECT_TRUE(read_ptxas("ptxas info    : Compile time = 3 ms\nptxas info    : 0 bytes gmem\n12 bytes stack frame\n").code.empty());
}

}  // namespace
}  // namespace whet
