// SPDX-License-Identifier: Apache-2.0
#include "truth/build/builder.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <thread>

#include "base/file.h"
#include "base/hash.h"
#include "sandbox/jail.h"

namespace whet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const std::string kGood = R"(#include <whet/candidate.h>
#include "value.h"
static const WhetSolution solution = {WHET_ABI_VERSION, 0, 0};
extern "C" const WhetSolution* whet_solution_v1() { return &solution; }
extern "C" WHET_EXPORT int value() { return VALUE; }
int hidden() { return 1; }
)";

class Building : public testing::Test {
 protected:
  TemporaryDirectory cache = TemporaryDirectory::make("whet-build-test").value();
  BuildOptions options{.cache_folder = cache.path(), .time_limit = std::chrono::seconds(30)};
  Builder builder = Builder::make(options).value();
  BuildInput input{.sources = {{"a.cc", kGood}, {"value.h", "#define VALUE 42\n"}},
                   .abi_header = read_file(WHET_SOURCE_DIR "/include/whet/candidate.h").value()};

  BuildOutcome build() {
    auto outcome = builder.build(input);
    if (!outcome) {
      ADD_FAILURE() << outcome.error().what;
      return {};
    }
    return *std::move(outcome);
  }
  BuildOutcome build_source(const std::string& source) {
    input.sources = {{"a.cc", source}};
    return build();
  }
  static int value_of(const fs::path& artifact) {
    void* library = ::dlopen(artifact.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      ADD_FAILURE() << ::dlerror();
      return -1;
    }
    auto* value = reinterpret_cast<int (*)()>(::dlsym(library, "value"));
    const int got = value == nullptr ? -1 : value();
    EXPECT_EQ(::dlsym(library, "_Z6hiddenv"), nullptr) << "symbols are hidden unless they are exported";
    ::dlclose(library);
    return got;
  }
};

TEST_F(Building, MakesALibraryThatCanBeLoaded) {
  const auto outcome = build();
  ASSERT_TRUE(outcome.ok()) << outcome.verdict.sentence << outcome.log;
  EXPECT_EQ(value_of(outcome.artifact), 42);
  EXPECT_EQ(outcome.artifact_sha256, sha256_hex(read_file(outcome.artifact).value()));
  EXPECT_EQ(outcome.objects, 1);
  EXPECT_FALSE(outcome.artifact_from_cache);
  ASSERT_EQ(outcome.commands.size(), 2u);
  EXPECT_THAT(outcome.commands[0], AllOf(HasSubstr("g++ -std=c++20 "), HasSubstr(" -c a.cc ")));
  EXPECT_THAT(outcome.commands[1], HasSubstr("-shared"));
  EXPECT_FALSE(outcome.compiler.empty());
}

TEST_F(Building, TheSameInputComesFromTheCache) {
  const auto first = build();
  const auto second = build();
  EXPECT_TRUE(second.artifact_from_cache);
  EXPECT_EQ(second.artifact_sha256, first.artifact_sha256);
  EXPECT_EQ(second.commands, first.commands);
  EXPECT_LT(second.seconds, first.seconds);
}

TEST_F(Building, TheSameInputGivesTheSameBytesAnywhere) {
  input.cflags = {"-g"};
  const auto first = build();
  const auto other_cache = TemporaryDirectory::make("whet-build-test").value();
  options.cache_folder = other_cache.path();
  const auto again = Builder::make(options)->build(input).value();
  EXPECT_FALSE(again.artifact_from_cache);
  EXPECT_EQ(first.artifact_sha256, again.artifact_sha256);
}

TEST_F(Building, AChangedHeaderOrFlagMeansAnotherObject) {
  ASSERT_TRUE(build().ok());
  input.sources["value.h"] = "#define VALUE 43\n";
  auto outcome = build();
  EXPECT_EQ(outcome.objects_from_cache, 0);
  EXPECT_EQ(value_of(outcome.artifact), 43);
  input.sources["value.h"] = "#define VALUE 42\n";
  EXPECT_TRUE(build().artifact_from_cache);
  input.cflags = {"-DX=1"};
  EXPECT_EQ(build().objects_from_cache, 0);
}

TEST_F(Building, OnlyTheChangedSourceIsCompiledAgain) {
  input.sources["b.cc"] = "#include \"b.h\"\nint b() { return B; }\n";
  input.sources["c.c"] = "int c(void) { return 1; }\n";
  input.sources["b.h"] = "#define B 1\n";
  EXPECT_EQ(build().objects, 3);
  input.sources["b.h"] = "#define B 2\n";
  const auto outcome = build();
  EXPECT_EQ(outcome.objects_from_cache, 2);
  EXPECT_TRUE(outcome.ok());
}

TEST_F(Building, ADamagedEntryIsNotUsed) {
  const auto first = build();
  for (const auto& entry : fs::recursive_directory_iterator(cache.path()))
    if (entry.is_regular_file()) {
      ASSERT_TRUE(write_file_atomically(entry.path(), "damaged"));
    }
  const auto second = build();
  EXPECT_FALSE(second.artifact_from_cache);
  EXPECT_EQ(second.objects_from_cache, 0);
  EXPECT_EQ(second.artifact_sha256, first.artifact_sha256);
}

TEST_F(Building, WarningsAreKeptAlsoFromTheCache) {
  input.cflags = {"-Wall"};
  const std::string source = kGood + "static int unused;\n";
  input.sources["a.cc"] = source;
  EXPECT_THAT(build().log, HasSubstr("unused"));
  EXPECT_THAT(build().log, HasSubstr("unused"));
  input.ld_flags = {"-s"};  // another artifact, the same object
  const auto outcome = build();
  EXPECT_EQ(outcome.objects_from_cache, 1);
  EXPECT_THAT(outcome.log, HasSubstr("unused"));
}

TEST_F(Building, EachFaultIsAVerdictOfItsOwn) {
  auto outcome = build_source("int f( {");
  EXPECT_EQ(outcome.verdict.code, Code::compile_failed);
  EXPECT_THAT(outcome.verdict.sentence, HasSubstr("a.cc:1:"));
  EXPECT_THAT(outcome.verdict.evidence, HasSubstr("error:"));

  outcome =
      build_source("int f(int); int g(); __attribute__((visibility(\"default\"))) int h() { return f(1) + g(); }");
  EXPECT_EQ(outcome.verdict.code, Code::link_failed);
  EXPECT_THAT(outcome.verdict.sentence, AllOf(HasSubstr("2 undefined symbols"), HasSubstr("f(int)"), HasSubstr("g()")));

  input.sources = {{"a.h", ""}};
  EXPECT_EQ(build().verdict.code, Code::compile_failed);
  input.sources = {{"a.cc", ""}};
  input.cflags = {"-fplugin=x"};
  outcome = build();
  EXPECT_EQ(outcome.verdict.code, Code::flag_refused);
  EXPECT_THAT(outcome.verdict.sentence, HasSubstr("-fplugin=x"));
  input.cflags = {};
  input.dependencies = {"torch"};
  outcome = build();
  EXPECT_EQ(outcome.verdict.code, Code::dependency_missing);
  EXPECT_THAT(outcome.verdict.sentence, AllOf(HasSubstr("torch"), HasSubstr("onednn, openblas")));
}

TEST_F(Building, TenMegabytesOfErrorsKeepHeadAndTail) {
  std::string source = "#define E(x) static_assert(x < 0, \"" + std::string(500, 'e') + "\");\n";
  for (int i = 0; i < 4000; ++i) source += "E(" + std::to_string(i) + ")\n";
  input.cflags = {"-fmax-errors=0"};
  const auto outcome = build_source(source);
  EXPECT_EQ(outcome.verdict.code, Code::compile_failed);
  EXPECT_LT(outcome.log.size(), 66'000u);
  EXPECT_THAT(outcome.log, HasSubstr("bytes left out"));
  EXPECT_THAT(outcome.verdict.sentence, HasSubstr("a.cc:1:30: error:"));
}

TEST_F(Building, ACompilerWithoutEndIsStopped) {
  options.time_limit = std::chrono::milliseconds(1500);
  builder = Builder::make(options).value();
  input.cflags = {"-fconstexpr-ops-limit=1000000000000", "-fconstexpr-loop-limit=2147483647"};
  const auto outcome = build_source(
      "constexpr unsigned long f() { unsigned long s = 0; for (unsigned long i = 0; i < 1ul << 30; ++i) s += i; return "
      "s; }\n"
      "unsigned long x = f() + (static_cast<void>(sizeof(char[f() & 1 ? 1 : 2])), 0);\n");
  EXPECT_EQ(outcome.verdict.code, Code::compile_timed_out);
  EXPECT_LT(outcome.seconds, 10);
  EXPECT_THAT(outcome.verdict.sentence, HasSubstr("a.cc: the compiler had not ended after"));
}

// A child of ours whose name has "++" in it: the compiler's driver, process 1 of its jail.
std::optional<pid_t> running_compiler() {
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto stat = read_file(entry.path() / "stat", 4096);
    if (!stat) continue;
    int parent = 0;
    const size_t name_end = stat->rfind(')');
    if (std::sscanf(stat->c_str() + name_end + 1, " %*c %d", &parent) != 1 || parent != ::getpid()) continue;
    if (stat->substr(0, name_end).ends_with("++")) return std::stoi(*stat);
  }
  return std::nullopt;
}

TEST_F(Building, ACompilerKilledFromOutsideIsNoFaultOfTheSolution) {
  for (const Wall& wall : jail_walls())
    if (wall.name == "pid_namespace" && !wall.standing) GTEST_SKIP() << "here a compiler could kill itself";
  std::jthread killer([](const std::stop_token& done) {
    for (auto compiler = running_compiler(); !done.stop_requested(); compiler = running_compiler())
      if (compiler) {
        ::kill(*compiler, SIGKILL);
        return;
      }
  });
  const auto outcome = builder.build(input);
  ASSERT_FALSE(outcome) << outcome->verdict.sentence;
  EXPECT_EQ(outcome.error().blame, Blame::machine);
  EXPECT_THAT(outcome.error().what, HasSubstr(": the compiler was killed from outside"));
}

TEST_F(Building, ACompilerThatEatsMemoryIsStopped) {
  options.memory_bytes = uint64_t{150} << 20;
  builder = Builder::make(options).value();
  const auto outcome = build_source(
      "template <int N> struct T { T<N - 1> a; T<N - 2> b; int v[N]; };\n"
      "#include <regex>\n#include <map>\n#include <functional>\n#include <iostream>\n#include <random>\n"
      "std::map<int, std::regex> m; char c[1 << 28] = {1};\n");
  EXPECT_EQ(outcome.verdict.code, Code::compile_too_large) << outcome.verdict.sentence;
}

TEST_F(Building, ALargeObjectIsRefused) {
  options.file_bytes = 1 << 20;
  builder = Builder::make(options).value();
  const auto outcome = build_source("char c[1 << 22] = {1};\n");
  EXPECT_EQ(outcome.verdict.code, Code::compile_too_large) << outcome.verdict.sentence << outcome.log;
}

TEST_F(Building, FilesOfTheHostAreOutOfReach) {
  const auto secret = TemporaryDirectory::make("whet-secret").value();
  fs::permissions(secret.path(), fs::perms(0777));
  ASSERT_TRUE(write_file_atomically(secret.path() / "x", "\"the secret\"\n"));
  for (const std::string& path : {(secret.path() / "x").string(), std::string("/etc/passwd"),
                                  std::string("/root/.bashrc"), std::string(WHET_SOURCE_DIR "/FLOORS")}) {
    EXPECT_EQ(build_source("#include \"" + path + "\"\n").verdict.code, Code::compile_failed) << path;
    EXPECT_EQ(build_source("asm(\".incbin \\\"" + path + "\\\"\");\n").verdict.code, Code::compile_failed) << path;
  }
}

TEST_F(Building, OddNamesAreNoOptions) {
  input.sources = {{"-v.cc", kGood},
                   {"@x.cc", "int x;"},
                   {"a b/c d.cc", "#include \"e f.h\"\n"},
                   {"a b/e f.h", ""},
                   {"value.h", "#define VALUE 42\n"}};
  const auto outcome = build();
  EXPECT_TRUE(outcome.ok()) << outcome.verdict.sentence << outcome.log;
  input.sources["a b/e f.h"] = "// changed\n";
  EXPECT_EQ(build().objects_from_cache, 2);
  input.sources["../x.cc"] = "";
  EXPECT_EQ(build().verdict.code, Code::compile_failed);
}

TEST_F(Building, NativeIsResolvedAndSaid) {
  EXPECT_EQ(build().native, "");
  input.cflags = {"-march=native", "-O3", "-fopenmp"};
  const auto outcome = build();
  ASSERT_TRUE(outcome.ok()) << outcome.log;
  EXPECT_THAT(outcome.native, HasSubstr("-march="));
}

TEST_F(Building, DependenciesAreLinkedWhereTheyAre) {
  input.dependencies = {"openblas"};
  const auto outcome = build_source(
      "#include <cblas.h>\n__attribute__((visibility(\"default\"))) float f(float* x) { return cblas_sdot(3, x, 1, x, "
      "1); }\n");
  if (outcome.verdict.code == Code::dependency_missing) GTEST_SKIP() << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.ok()) << outcome.verdict.sentence << outcome.log;
}

}  // namespace
}  // namespace whet
