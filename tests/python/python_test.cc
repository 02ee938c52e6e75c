// SPDX-License-Identifier: Apache-2.0
// Jailed Solutions in Python on the CPU, through the real library that their interpreter loads. y = x * factor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "truth/build/python.h"
#include "truth/runner/process.h"

namespace whet {
namespace {

using runner::Op;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr int64_t kCount = 6;
constexpr const char* kSignature = "in x tensor\nin factor scalar\nout y tensor\n";

Solution solution(const std::string& source, bool writes = true) {
  Solution solution;
  solution.language = "python";
  solution.entry_point = "solution.py::run";
  solution.definitions = {"scale_f32"};
  solution.destination_passing = writes;
  solution.sources = {{"solution.py", source}};
  return solution;
}

class PythonRunner : public testing::Test {
 protected:
  static const Python& python() {
    static const Python found = find_python({});
    return found;
  }

  void SetUp() override {
    if (!python().usable()) GTEST_SKIP() << python().missing;
    auto cache = TemporaryDirectory::make("whet-python-test");
    ASSERT_TRUE(cache) << cache.error().what;
    cache_ = std::move(*cache);
  }

  // Places it and starts a runner.
  void start(const Solution& solution, milliseconds load_limit = milliseconds(20000)) {
    auto placed = place_python(solution, python(), cache_.path());
    ASSERT_TRUE(placed) << placed.error().what;
    ASSERT_TRUE(placed->ok()) << placed->verdict.sentence;
    RunnerOptions options;
    options.program = "/nowhere";
    options.artifact = placed->artifact;
    options.cores = {0};
    options.environment = {{"LANG", "C.UTF-8"}};
    options.python = RunnerPython{python().executable, python().path, python().folders, WHET_BINARY_DIR "/python/whet-python-runner.so", false};
    options.load_limit = load_limit;
    auto started = Runner::start(options);
    ASSERT_TRUE(started) << started.error().what;
    runner_ = std::move(*started);
  }

  Verdict load() { return runner_->load("scale_f32", kSignature); }

  Verdict lend() {
    auto layout = std::make_unique<runner::Layout>();
    layout->num_inputs = layout->num_outputs = layout->num_axes = layout->num_scalars = layout->num_sets = layout->num_threads = 1;
    layout->axes[0] = kCount;
    layout->scalars[0] = {1, 0, 3, 3.0};
    for (int i : {0, 1}) layout->tensors[i] = {.ndim = 2, .dtype_code = 2, .dtype_bits = 32, .shape = {2, kCount / 2}};
    for (Buffer* buffer : {&x_, &y_}) {
      auto lent = lend_host_memory(4 * kCount, buffer == &x_ ? Buffer::Access::read_only : Buffer::Access::writable, Buffer::Place::start, 0);
      if (!lent) return {Code::machine_failed, lent.error().what, ""};
      *buffer = std::move(*lent);
    }
    layout->placement[0][0] = x_.placement();
    layout->placement[0][1] = y_.placement();
    for (int i = 0; i < kCount; ++i) reinterpret_cast<float*>(x_.data())[i] = static_cast<float>(i);
    return runner_->lend(*layout, std::vector<int>{x_.descriptor(), y_.descriptor()});
  }

  Verdict turn(Op op) {
    Turn turn;
    return runner_->turn(op, 0, milliseconds(10000), nullptr, turn);
  }

  // All steps up to the one that fails.
  Verdict all() {
    Verdict verdict = load();
    if (verdict.correct()) verdict = lend();
    if (verdict.correct()) verdict = turn(Op::prepare);
    if (verdict.correct()) verdict = turn(Op::run);
    return verdict;
  }

  void expect_right() {
    for (int i = 0; i < kCount; ++i) EXPECT_EQ(reinterpret_cast<const float*>(y_.data())[i], 3.0f * static_cast<float>(i));
  }

  TemporaryDirectory cache_;
  std::unique_ptr<Runner> runner_;
  Buffer x_, y_;
};

constexpr const char* kScale = R"(
import whet
whet.note("by hand")
def run(x, factor, y):
    assert x.shape == (2, 3) and x.readonly and whet.inputs() == ["x", "factor"]
    for i in range(2):
        for j in range(3):
            y[i, j] = x[i, j] * factor
)";

TEST_F(PythonRunner, WritesItsOutput) {
  start(solution(kScale));
  ASSERT_TRUE(all().correct()) << runner_->stderr_tail();
  expect_right();
  EXPECT_EQ(runner_->notes(), "by hand");
  for (int again = 0; again < 3; ++again) EXPECT_TRUE(turn(Op::run).correct());
}

TEST_F(PythonRunner, ReturnsItsOutput) {
  start(solution("import array\ndef run(x, factor):\n    return array.array('f', [v * factor for row in x.tolist() for v in row])\n", false));
  ASSERT_TRUE(all().correct()) << runner_->stderr_tail();
  expect_right();
}

TEST_F(PythonRunner, WhatPrepareReturnsComesToRun) {
  start(solution("def prepare(x, factor, y):\n    return 7\ndef run(x, factor, y, plan):\n    y[0, 0] = plan\n"));
  ASSERT_TRUE(all().correct()) << runner_->stderr_tail();
  EXPECT_EQ(reinterpret_cast<const float*>(y_.data())[0], 7.0f);
}

TEST_F(PythonRunner, AnExceptionIsSaidByItsLastLineAndWhere) {
  start(solution("def run(x, factor, y):\n    y[0, 0] = 1 / (factor - 3)\n"));
  const Verdict verdict = all();
  EXPECT_EQ(verdict.code, Code::returned_error);
  EXPECT_EQ(verdict.sentence, "run: ZeroDivisionError: float division by zero (solution.py, line 2)");
  EXPECT_THAT(verdict.evidence, HasSubstr("Traceback (most recent call last)"));
  EXPECT_FALSE(runner_->dead());
}

TEST_F(PythonRunner, InputsCannotBeWritten) {
  start(solution("def run(x, factor, y):\n    x[0, 0] = 1\n"));
  const Verdict verdict = all();
  EXPECT_EQ(verdict.code, Code::returned_error);
  EXPECT_THAT(verdict.sentence, HasSubstr("cannot modify read-only memory"));
}

TEST_F(PythonRunner, InputsCannotBeWrittenByAddressEither) {
  start(solution(R"(import ctypes
class Buffer(ctypes.Structure):
    _fields_ = [("address", ctypes.c_void_p), ("rest", ctypes.c_char * 128)]
def run(x, factor, y):
    view = Buffer()
    ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(x), ctypes.byref(view), 0x11c)
    ctypes.memset(view.address, 1, 4)
)"));
  const Verdict verdict = all();
  EXPECT_EQ(verdict.code, Code::input_written) << verdict.sentence << verdict.evidence;
}

TEST_F(PythonRunner, AMissingFunction) {
  start(solution("def walk(x, factor, y):\n    pass\n"));
  const Verdict verdict = all();
  EXPECT_EQ(verdict.code, Code::entry_missing);
  EXPECT_EQ(verdict.sentence, "solution.py has no function run");
}

TEST_F(PythonRunner, ASyntaxError) {
  start(solution("def run(:\n"));
  const Verdict verdict = all();
  EXPECT_EQ(verdict.code, Code::load_failed);
  EXPECT_THAT(verdict.sentence, HasSubstr("importing solution.py: SyntaxError"));
}

TEST_F(PythonRunner, AnEndlessImport) {
  start(solution("while True: pass\n"), milliseconds(1000));
  const Verdict verdict = load();
  EXPECT_EQ(verdict.code, Code::hung);
  EXPECT_EQ(verdict.sentence, "loading: did not return within 1 s");
}

TEST_F(PythonRunner, AnImportThatEndsTheProcess) {
  start(solution("import os\nos._exit(5)\n"));
  EXPECT_EQ(load().code, Code::exited);
}

TEST_F(PythonRunner, WhatItDoesNotRunIsUnsupported) {
  start(solution("import whet\ndef prepare(*values):\n    raise whet.Unsupported('no rows')\ndef run(x, factor, y):\n    pass\n"));
  const Verdict verdict = all();
  EXPECT_EQ(verdict.code, Code::unsupported);
  EXPECT_EQ(verdict.sentence, "no rows");
  EXPECT_FALSE(runner_->dead());
}

TEST_F(PythonRunner, ProgramsCanBeStartedAndSocketsCannotBeMade) {
  start(solution(R"(import os, socket, subprocess, tempfile
def run(x, factor, y):
    assert subprocess.run(["/bin/sh", "-c", "exit 3"]).returncode == 3
    with tempfile.NamedTemporaryFile() as file:
        assert file.name.startswith(os.getcwd())
    for family in (socket.AF_INET, socket.AF_UNIX):
        try:
            socket.socket(family)
        except PermissionError:
            continue
        raise AssertionError("a socket")
    try:
        open("/usr/written", "w")
    except OSError:
        return
    raise AssertionError("a file outside")
)"));
  EXPECT_TRUE(all().correct()) << runner_->stderr_tail();
}

TEST_F(PythonRunner, AModuleThatIsNotInstalled) {
  start(solution("import no_such_module\ndef run(x, factor, y):\n    pass\n"));
  const Verdict verdict = all();
  EXPECT_EQ(verdict.code, Code::dependency_missing);
  EXPECT_EQ(verdict.sentence, "importing solution.py: ModuleNotFoundError: No module named 'no_such_module' (solution.py, line 1)");
}

TEST_F(PythonRunner, AMissingDependencyIsSaidBeforeAnythingStarts) {
  Solution absent = solution(kScale);
  absent.dependencies = {"json", "no_such_module"};
  auto placed = place_python(absent, python(), cache_.path());
  ASSERT_TRUE(placed) << placed.error().what;
  EXPECT_EQ(placed->verdict.code, Code::dependency_missing);
  EXPECT_THAT(placed->verdict.sentence, HasSubstr("has no module no_such_module;"));
}

TEST_F(PythonRunner, WhatLiesInTheCacheIsNotBelieved) {
  auto first = place_python(solution(kScale), python(), cache_.path());
  ASSERT_TRUE(first && first->ok());
  ASSERT_TRUE(write_file_atomically(first->artifact / "source/solution.py", "def run(x, factor, y):\n    pass\n"));
  start(solution(kScale));
  ASSERT_TRUE(all().correct()) << runner_->stderr_tail();
  expect_right();
}

TEST(FindPython, OneLineSaysWhatIsMissing) {
  Python none;
  none.missing = "there is no python3 in PATH, /usr/local/bin or /usr/bin";
  auto placed = place_python(solution(kScale), none, "/nowhere");
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->verdict.code, Code::language_unsupported);
  EXPECT_EQ(placed->verdict.sentence, "it is in python; there is no python3 in PATH, /usr/local/bin or /usr/bin");
}

}  // namespace
}  // namespace whet
