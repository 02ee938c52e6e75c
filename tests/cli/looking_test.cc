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
  const std::string shown = whet({"task", "show", "rmsnorm-cpu"}).out;
  const auto at = shown.find("decode");
  ASSERT_NE(at, std::string::npos) << shown;
  const std::string workload = shown.substr(at, shown.find_first_of(" \n,", at) - at);
  for (const char* command : {"profile", "sanitize"})
    expect_refusal({command, "rmsnorm-cpu", "start", "--workload", workload}, 2,
                   std::string("whet: ") + command + ": the task rmsnorm-cpu is for cpu; this command looks at calls of cuda tasks\n");
}

TEST_F(Looking, WithoutADisassemblerOneLineSaysSo) {
  if (exists("cuobjdump")) GTEST_SKIP() << "this machine has cuobjdump";
  expect_refusal({"disassemble", "rmsnorm-cpu", "start"}, 3,
                 "whet: disassemble: cuobjdump is missing on the worker's machine: not in PATH, CUDA_HOME/bin, /usr/local/cuda/bin; the CUDA toolkit (package cuda-cuobjdump) "
                 "brings it\n");
}

TEST_F(Looking, UnknownSolutionToCompareWith) {
  const ProcessResult result = whet({"disassemble", "rmsnorm-cpu", "start", "--against", "strat"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("'strat'"));
}

}  // namespace
}  // namespace whet
