// SPDX-License-Identifier: Apache-2.0
#include "truth/build/nvcc_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "truth/build/nvcc.h"

namespace whet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(NvccFlags, WhatKernelsNeedIsAllowed) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"-Xptxas", "-v,-O3,-dlcm=cg"}, {"-Xptxas=-v"}, {"--ptxas-options=--verbose"}, {"--use_fast_math"}, {"-use_fast_math"},
           {"-maxrregcount", "168"}, {"--maxrregcount=64"}, {"--expt-relaxed-constexpr"}, {"--expt-extended-lambda"}, {"-DTILE=64"},
           {"-DX"}, {"-Iinclude"}, {"-I."}, {"-std=c++17"}, {"-O3"}, {"-march=native"}, {"-lineinfo"}, {"-ftz=true"}, {"--fmad=false"},
           {"-gencode", "arch=compute_90a,code=sm_90a"}, {"-gencode=arch=compute_80,code=[sm_80,compute_80]"}, {"-arch=sm_100a"},
           {"-Xcompiler", "-ffast-math,-Wall"}, {"-diag-suppress", "177,550"}, {"--default-stream=per-thread"}, {"-w"}})
    EXPECT_EQ(refused_cuda_flag(flags), std::nullopt) << flags[0];
}

TEST(NvccFlags, WhatReachesOutIsRefusedByName) {
  for (const char* flag : {"-ccbin=/tmp/x", "--run", "-run", "--keep", "-keep-dir=x", "-save-temps", "-o", "-x", "--output-file=x", "-Xlinker=-rpath",
                           "--dryrun", "-optf=x", "--options-file=x", "-rdc=true", "-dc", "-dlto", "--compiler-bindir=/x", "-include", "-L/x", "@x",
                           "-ldir=/x", "--nvlink-options=x", "-Xnvlink=x", "-time=x", "-Xcudafe=--x", "-Xcicc=x", "-MF", "-fplugin=x", "-odir=x",
                           "-Xptxas=-o,x", "-Xptxas=-v;sh", "-Xptxas=", "-Xptxas", "-Xcompiler=-fplugin=x", "-Xcompiler=-O3,-specs=x", "-Xcompiler=a.o",
                           "-Xcompiler=-Wl,-rpath", "-Xcompiler=", "-gencode=arch=compute_90a,code=$(x)", "-arch=native", "-arch=all", "-arch=sm_",
                           "-maxrregcount=a", "-maxrregcount", "-ftz=maybe", "-DX=$(sh)", "-DX=`sh`", "-DX=a,-run", "-DX=\"a\"", "-DX=a b", "-march=x,-specs=y",
                           "-Iinclude;x", "-diag-suppress=x", "--default-stream=x", "-DX=a\\", "-G", "--generate-dependencies"})
    EXPECT_THAT(refused_cuda_flag({"-O2", flag}).value_or("allowed"), HasSubstr("is refused: ")) << flag;
  EXPECT_THAT(*refused_cuda_flag({"-Xptxas", "--output-file=x"}), HasSubstr("\"-Xptxas=--output-file=x\" is refused: \"--output-file=x\" is not in the list"));
  EXPECT_FALSE(is_nvcc_file_name("a b.cu"));
  EXPECT_FALSE(is_nvcc_file_name("$(x).cu"));
  EXPECT_TRUE(is_nvcc_file_name("a/b-1_c+.cu"));
}

TEST(NvccFlags, EachCompilerGetsItsOwn) {
  const std::vector<std::string> flags = {"-std=c11", "-Xptxas", "-v", "-O3", "-march=native", "--use_fast_math", "-DX", "-Ofast", "-Xcompiler", "-Wall", "-gencode",
                                          "arch=compute_90a,code=sm_90a"};
  EXPECT_THAT(nvcc_flags(flags), ElementsAre("-Xptxas=-v", "-O3", "-Xcompiler=-march=native", "--use_fast_math", "-DX", "-Xcompiler=-Ofast", "-Xcompiler=-Wall",
                                             "-gencode=arch=compute_90a,code=sm_90a"));
  EXPECT_THAT(host_flags(flags), ElementsAre("-std=c11", "-O3", "-march=native", "-DX", "-Ofast"));
}

TEST(Nvcc, ArchitecturesHaveNames) {
  EXPECT_EQ(gencode_of("90a"), "-gencode=arch=compute_90a,code=sm_90a");
  EXPECT_EQ(gencode_of("86"), "-gencode=arch=compute_86,code=sm_86");
  for (const char* bad : {"", "a", "9", "90b", "90a;x", "sm_90a"}) EXPECT_EQ(gencode_of(bad), "") << bad;
}

TEST(Nvcc, AFolderWithoutAToolkitIsSaidSo) {
  const Nvcc nvcc = find_nvcc({"/nowhere", "relative"});
  if (nvcc.path.empty()) EXPECT_THAT(nvcc.missing, HasSubstr("install the CUDA toolkit"));
  else EXPECT_TRUE(nvcc.path.ends_with("/nvcc"));
}

}  // namespace
}  // namespace whet
