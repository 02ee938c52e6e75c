// SPDX-License-Identifier: Apache-2.0
#include "truth/build/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace whet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Flags, WhatKernelsNeedIsAllowed) {
  EXPECT_EQ(refused_compile_flag({"-O3",
                                  "-Ofast",
                                  "-march=native",
                                  "-mavx512f",
                                  "-mprefer-vector-width=512",
                                  "-ffast-math",
                                  "-fno-math-errno",
                                  "-funroll-loops",
                                  "-flto",
                                  "-std=c++20",
                                  "-DX",
                                  "-DTILE=64",
                                  "-DS=\"a b\"",
                                  "-UX",
                                  "-Iinclude",
                                  "-I.",
                                  "-Wall",
                                  "-Wno-unused",
                                  "-g",
                                  "-fopenmp",
                                  "-pthread",
                                  "-w",
                                  "--param=max-unroll-times=4",
                                  "-fopt-info-vec"}),
            std::nullopt);
  EXPECT_EQ(refused_link_flag({"-O2", "-flto", "-fopenmp", "-pthread", "-lm", "-Wl,--as-needed", "-Wl,-z,now", "-s",
                               "-static-libstdc++"}),
            std::nullopt);
}

TEST(Flags, WhatReachesOutIsRefusedByName) {
  for (const char* flag : {"-fplugin=evil.so",
                           "-fplugin-arg-x",
                           "-B/tmp",
                           "-specs=x",
                           "-wrapper",
                           "-wrapper,sh",
                           "@file",
                           "a.o",
                           "-I/usr/include",
                           "-I../x",
                           "-I",
                           "-D",
                           "-include",
                           "-includex.h",
                           "-isystem",
                           "-Wl,-rpath,/x",
                           "-Wa,-I/etc",
                           "-Wp,-MD,x",
                           "-o",
                           "-x",
                           "-save-temps",
                           "-fprofile-use=x",
                           "-fdump-tree-all",
                           "-fmodule-mapper=|sh",
                           "-fsanitize=address",
                           "-fdebug-prefix-map=a=b",
                           "-fopt-info=/tmp/x",
                           "-march=native/x",
                           "-fuse-ld=x",
                           "-std=/x",
                           "",
                           "-DX=\n",
                           "--sysroot=/",
                           "-nostdinc",
                           "-T",
                           "-fno-plugin=x",
                           "-flto-partition=../x"})
    EXPECT_THAT(refused_compile_flag({"-O2", flag}).value_or("allowed"),
                HasSubstr(std::string("\"") + flag + "\" is refused: "))
        << flag;
  for (const char* flag : {"-lopenblas", "-L/usr/lib", "-Wl,-rpath,/x", "-Wl,--dynamic-linker=/x", "-Wl,--wrap=main",
                           "-T", "x.o", "-fplugin=x", "-static", "/x"})
    EXPECT_NE(refused_link_flag({flag}), std::nullopt) << flag;
  EXPECT_THAT(*refused_link_flag({"-lopenblas"}), HasSubstr("dependencies"));
}

TEST(Flags, AreChosenByLanguageAndStep) {
  const std::vector<std::string> flags = {"-std=c++23", "-std=c11", "-O3", "-DX", "-march=native", "-fopenmp", "-Wall"};
  EXPECT_THAT(flags_for_language(flags, true),
              ElementsAre("-std=c11", "-O3", "-DX", "-march=native", "-fopenmp", "-Wall"));
  EXPECT_THAT(flags_for_language(flags, false),
              ElementsAre("-std=c++23", "-O3", "-DX", "-march=native", "-fopenmp", "-Wall"));
  EXPECT_THAT(flags_for_link(flags), ElementsAre("-O3", "-march=native", "-fopenmp"));
}

}  // namespace
}  // namespace whet
