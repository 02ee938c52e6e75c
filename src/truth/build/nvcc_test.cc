// SPDX-License-Identifier: Apache-2.0
// Solutions with .cu files, where this machine has nvcc.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/hash.h"
#include "sandbox/jail.h"
#include "truth/build/builder.h"

namespace whet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

const std::string kSolution = R"(#include <cuda_bf16.h>
#include <whet/candidate.h>
#include "factor.h"
__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= FACTOR;
}
static const WhetSolution solution = {WHET_ABI_VERSION, 0, 0};
extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1() { return &solution; }
extern "C" WHET_EXPORT int launch(float* x, int n) {
  scale<<<(n + 255) / 256, 256>>>(x, n);
  return cudaGetLastError();
}
)";

class CudaBuilding : public testing::Test {
 protected:
  void SetUp() override {
    if (!builder.nvcc().usable()) GTEST_SKIP() << builder.nvcc().missing;
  }
  TemporaryDirectory cache = TemporaryDirectory::make("whet-build-test").value();
  BuildOptions options{.cache_folder = cache.path()};
  Builder builder = Builder::make(options).value();
  BuildInput input{.sources = {{"a.cu", kSolution}, {"factor.h", "#define FACTOR 2\n"}},
                   .abi_header = read_file(WHET_SOURCE_DIR "/include/whet/candidate.h").value()};

  BuildOutcome build() {
    auto outcome = builder.build(input);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().what;
      return {};
    }
    return *std::move(outcome);
  }
};

// nvcc takes seconds, so one test holds what follows from one build.
TEST_F(CudaBuilding, MakesALibraryThatLoadsWithoutADriverAndKeepsWhatPtxasSaid) {
  input.sources["host.cc"] = "#include <cuda_runtime.h>\nint n() { return cudaSuccess; }\n";
  input.cflags = {"-Xptxas", "-O3", "--use_fast_math", "-DX=1", "-Wall"};
  const BuildOutcome outcome = build();
  ASSERT_TRUE(outcome.ok()) << outcome.verdict.sentence << outcome.log;
  RecordProperty("milliseconds", static_cast<int>(outcome.seconds * 1000));
  void* library = ::dlopen(outcome.artifact.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << ::dlerror();
  EXPECT_NE(::dlsym(library, "whet_solution_v1"), nullptr);
  EXPECT_EQ(::dlsym(library, "cudaLaunchKernel"), nullptr) << "the CUDA run time of a Solution is its own";
  ::dlclose(library);

  EXPECT_THAT(outcome.compiler, AllOf(HasSubstr("g++"), HasSubstr("; nvcc ")));
  ASSERT_THAT(outcome.commands, SizeIs(3));
  EXPECT_THAT(outcome.commands[0], AllOf(HasSubstr("/nvcc -ccbin="), HasSubstr("-gencode=arch=compute_90a,code=sm_90a"), HasSubstr(" -Xcompiler=-Wall ")));
  EXPECT_THAT(outcome.commands[1], AllOf(HasSubstr("g++ -std=c++20"), Not(HasSubstr("fast_math"))));
  ASSERT_THAT(outcome.device.kernels, SizeIs(1));
  EXPECT_EQ(outcome.device.kernels[0].name, "scale(float*, int)");
  EXPECT_EQ(outcome.device.kernels[0].arch, "sm_90a");
  EXPECT_GT(outcome.device.kernels[0].registers, 0);
  EXPECT_THAT(outcome.log, Not(HasSubstr("registers")));

  const BuildOutcome again = build();
  EXPECT_TRUE(again.artifact_from_cache);
  EXPECT_EQ(again.device, outcome.device);
  input.ld_flags = {"-s"};  // another artifact of the same objects
  const BuildOutcome stripped = build();
  ASSERT_TRUE(stripped.ok()) << stripped.log;
  EXPECT_EQ(stripped.objects_from_cache, 2);
  EXPECT_EQ(stripped.device, outcome.device);
  input.sources["factor.h"] = "#define FACTOR 3\n";
  EXPECT_EQ(build().objects_from_cache, 1) << "the .cc, which does not include it";
}

TEST_F(CudaBuilding, TheSameInputGivesTheSameBytesAnywhere) {
  for (const Wall& wall : jail_walls())
    if (wall.name == "mount_namespace" && !wall.standing) GTEST_SKIP() << "nvcc writes the folder that it works in into what it makes";
  const BuildOutcome first = build();
  const auto other_cache = TemporaryDirectory::make("whet-build-test").value();
  options.cache_folder = other_cache.path();
  const BuildOutcome again = Builder::make(options)->build(input).value();
  EXPECT_FALSE(again.artifact_from_cache);
  EXPECT_EQ(first.artifact_sha256, again.artifact_sha256);
}

TEST_F(CudaBuilding, EachFaultIsAVerdictOfItsOwn) {
  input.sources["factor.h"] = "#define FACTOR nothing\n";
  BuildOutcome outcome = build();
  EXPECT_EQ(outcome.verdict.code, Code::compile_failed);
  EXPECT_EQ(outcome.verdict.sentence, "a.cu: a.cu(6): error: identifier \"nothing\" is undefined");
  EXPECT_THAT(outcome.verdict.evidence, AllOf(HasSubstr("1 error detected"), Not(HasSubstr("/tmp/")), Not(HasSubstr("/whet-build"))));

  input.sources = {{"a.cu", "__device__ int missing(int);\n__global__ void g(int* x) { *x = missing(*x); }\n"}};
  outcome = build();
  EXPECT_EQ(outcome.verdict.code, Code::compile_failed);
  EXPECT_EQ(outcome.verdict.sentence, "a.cu: ptxas fatal   : Unresolved extern function '_Z7missingi'");

  input.sources = {{"a.cu", kSolution}, {"factor.h", ""}};
  input.cflags = {"-arch=sm_999"};
  outcome = build();
  EXPECT_EQ(outcome.verdict.code, Code::compile_failed);
  EXPECT_EQ(outcome.verdict.sentence, "a.cu: nvcc fatal   : Unsupported gpu architecture 'sm_999'");
  input.cflags = {"--run"};
  EXPECT_EQ(build().verdict.code, Code::flag_refused);
  input.cflags = {};
  input.sources = {{"$(x).cu", ""}};
  EXPECT_THAT(build().verdict.sentence, HasSubstr("expected the name of a .cu file to have letters"));
}

TEST_F(CudaBuilding, LimitsAreVerdicts) {
  options.nvcc_time_limit = std::chrono::milliseconds(300);
  builder = Builder::make(options).value();
  EXPECT_EQ(build().verdict.code, Code::compile_timed_out);
  options.nvcc_time_limit = std::chrono::minutes(5);
  options.file_bytes = 1 << 16;  // what it preprocesses is larger
  builder = Builder::make(options).value();
  const BuildOutcome outcome = build();
  EXPECT_EQ(outcome.verdict.code, Code::compile_too_large) << outcome.verdict.sentence << outcome.log;
}

TEST_F(CudaBuilding, FilesOfTheHostAreOutOfReach) {
  for (const std::string path : {"/etc/passwd", WHET_SOURCE_DIR "/FLOORS"}) {
    input.sources = {{"a.cu", "#include \"" + path + "\"\n"}};
    const BuildOutcome outcome = build();
    EXPECT_EQ(outcome.verdict.code, Code::compile_failed) << path;
    EXPECT_THAT(outcome.log, HasSubstr("No such file or directory")) << path;
  }
}

TEST_F(CudaBuilding, BlackwellCompilesToo) {
  options.gpu_arch = "100a";
  builder = Builder::make(options).value();
  const BuildOutcome outcome = build();
  ASSERT_TRUE(outcome.ok()) << outcome.verdict.sentence << outcome.log;
  ASSERT_THAT(outcome.device.kernels, SizeIs(1));
  EXPECT_EQ(outcome.device.kernels[0].arch, "sm_100a");
}

TEST(CudaBuildingAnywhere, AnArchitectureThatCannotBeIsRefusedAtOnce) {
  const auto cache = TemporaryDirectory::make("whet-build-test").value();
  const auto builder = Builder::make({.cache_folder = cache.path(), .gpu_arch = "hopper"});
  ASSERT_FALSE(builder);
  EXPECT_EQ(builder.error().what, "\"hopper\" is no GPU architecture; expected digits and a or f, such as 90a");
}

}  // namespace
}  // namespace whet
