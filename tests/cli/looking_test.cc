// SPDX-License-Identifier: Apache-2.0
// profile, sanitize and disassemble where there is no GPU and no tool: one line each, and the right exit code. The tools' own texts: src/truth/profile.
#include <cstdlib>

#include "tests/cli/run_whet.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

class Looking : public WhetTest {
 protected:
  static bool exists(const std::string& tool) { return std::system(("command -v " + tool + " >/dev/null 2>&1 || test -x /usr/local/cuda/bin/" + tool).c_str()) == 0; }
};

TEST_F(Looking, AWorkloadMustBeNamed) {
  for (const char* command : {"profile", "sanitize"}) {
    const ProcessResult result = whet({command, "rmsnorm-cpu", "start"});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(std::string(command) + ": --workload is missing: one call is"));
  }
}

TEST_F(Looking, TheWorkloadMustBeKnown) {
  const ProcessResult result = whet({"profile", "rmsnorm-cpu", "start", "--workload", "nothing"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("task rmsnorm-cpu has no workload 'nothing'"));
}

TEST_F(Looking, ATaskForTheCpuHasNoKernels) {
  for (const char* command : {"profile", "sanitize"})
    expect_refusal({command, "rmsnorm-cpu", "start", "--workload", "tiny"}, 2,
                   std::string("whet: ") + command + ": the task rmsnorm-cpu is for cpu; this command looks at calls of cuda tasks\n");
}

TEST_F(Looking, WithoutADisassemblerOneLineSaysSo) {
  if (exists("cuobjdump")) GTEST_SKIP() << "this machine has cuobjdump";
  expect_refusal({"disassemble", "rmsnorm-cpu", "start"}, 3,
                 "whet: disassemble: cuobjdump is missing on the worker's machine: not in PATH, CUDA_HOME/bin, /usr/local/cuda/bin; the CUDA toolkit (package cuda-cuobjdump) "
                 "brings it\n");
}

// A cuobjdump that says what a real one said of another library: everything but the tool itself is real.
TEST_F(Looking, ADisassemblyFromEndToEnd) {
  const std::string data = std::string(WHET_SOURCE_DIR) + "/src/truth/profile/testdata/";
  write("bin/cuobjdump", "#!/bin/sh\ncase $1 in -sass) cat " + data + "sass_spills.txt;; -res-usage) cat " + data + "res_usage.txt;; *) echo 'tools, release 13.0, V';; esac\n");
  std::filesystem::permissions(folder() / "bin/cuobjdump", std::filesystem::perms::owner_all);
  ProcessSpec spec = spec_of({"disassemble", "rmsnorm-cpu", "start", "--against", "simple", "--json", "out.json"});
  (*spec.environment)["PATH"] = (folder() / "bin").string() + ":/usr/local/bin:/usr/bin:/bin";
  spec.deadline = std::chrono::seconds(120);
  const auto result = run_process(spec);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->exit_code, 0) << result->err;
  EXPECT_THAT(result->out, HasSubstr("start: 1 function of device code, by cuobjdump 13.0\n"));
  EXPECT_THAT(result->out, HasSubstr("From simple to start: 1 function is the same, 0 not\n"));
  EXPECT_THAT(result->out, HasSubstr("32 registers, 656 bytes of stack"));
  EXPECT_THAT(result->out, HasSubstr("read or write local memory (spilled registers"));
  EXPECT_THAT(read("out.json"), HasSubstr("\"symbol\": \"register_spills\""));
}

TEST_F(Looking, UnknownSolutionToCompareWith) {
  const ProcessResult result = whet({"disassemble", "rmsnorm-cpu", "start", "--against", "strat"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("'strat'"));
}

}  // namespace
}  // namespace whet
