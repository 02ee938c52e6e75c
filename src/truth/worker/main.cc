// SPDX-License-Identifier: Apache-2.0
// whet-worker: judges Solutions for a client at the other end of stdin and stdout. Re-executes itself inside a jail as a runner.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/embedded.h"
#include "truth/machine/cpu.h"
#include "truth/runner/child.h"
#include "truth/runner/cuda_child.h"
#include "truth/worker/service.h"

namespace {

constexpr const char* kVersion = "whet-worker 0.1.0";

constexpr const char* kHelp =
    "whet-worker: judges Solutions; started by whet, which speaks JSON-RPC 2.0 with it over stdin and stdout\n"
    "\n"
    "  --cache FOLDER   where built artifacts and admissions are kept (default: $XDG_CACHE_HOME/whet or ~/.cache/whet)\n"
    "  --version        prints the version\n"
    "  --help           prints this\n"
    "\n"
    "Exit codes: 0 the client is gone, 2 bad flags, 3 the machine failed.\n";

int run_library(const char* artifact, int (*run)(whet::runner::SolutionTable&, whet::RunnerFilter)) {
  whet::runner::LibraryTable table(artifact);
  return run(table, whet::RunnerFilter::library);
}

std::string default_cache() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder) return std::string(folder) + "/whet";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/whet";
  return "/tmp/whet-cache-" + std::to_string(getuid());
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// What Solutions may see of the environment: nothing of the user's but what chooses a library's kernels.
std::map<std::string, std::string> environment_of_solutions() {
  std::map<std::string, std::string> environment = {{"LANG", "C.UTF-8"}, {"PATH", "/usr/bin:/bin"}};
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"})
    if (const char* value = std::getenv(name)) environment[name] = value;
  if (!environment.count("OPENBLAS_CORETYPE"))
    if (std::string kernels = whet::openblas_kernels_for(whet::describe_cpu().features); !kernels.empty()) environment["OPENBLAS_CORETYPE"] = kernels;
#ifdef WHET_SANITIZED
  environment["ASAN_OPTIONS"] = "detect_leaks=0";  // the leak check at exit clones and traces, which the filter forbids
#endif
  return environment;
}

std::vector<std::string> folders_of_path() {
  std::vector<std::string> folders;
  const char* path = std::getenv("PATH");
  std::istringstream parts(path ? path : "");
  for (std::string folder; std::getline(parts, folder, ':');) folders.push_back(folder);
  return folders;
}

// In the order in which people expect them to count.
std::vector<std::string> folders_of_nvcc() {
  std::vector<std::string> folders = folders_of_path();
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(name); folder && *folder) folders.push_back(std::string(folder) + "/bin");
  return folders;
}

}  // namespace

int main(int argc, char** argv) {
  whet::ServiceOptions options;
  options.cache_folder = std::filesystem::absolute(default_cache());  // a path within a jail is absolute
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--runner" && i + 1 < argc) return run_library(argv[i + 1], whet::runner::run_child);
    if (flag == "--cuda-runner" && i + 1 < argc) return run_library(argv[i + 1], whet::runner::run_cuda_child);
    if (flag == "--help") return std::fputs(kHelp, stdout), 0;
    if (flag == "--version") return std::puts(kVersion), 0;
    if (flag == "--cache" && i + 1 < argc) {
      options.cache_folder = std::filesystem::absolute(argv[++i]);
      continue;
    }
    std::fprintf(stderr, "whet-worker: unknown or incomplete flag '%s'\n\n%s", argv[i], kHelp);
    return 2;
  }
  signal(SIGPIPE, SIG_IGN);
  // Where it is allowed, whatever else this machine does waits for what is being timed.
  (void)setpriority(PRIO_PROCESS, 0, -20);
  // Expected outputs come and go by the megabyte: giving the pages back and faulting them in again costs more than filling them.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
  // stdout is the wire: whatever else would print goes to stderr.
  const int wire = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (wire < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    std::perror("whet-worker: moving stdout away");
    return 3;
  }
  std::error_code error;
  options.program = std::filesystem::read_symlink("/proc/self/exe", error);
  options.version = kVersion;
  options.abi_header = std::string(whet::embedded_abi().front().contents);
  options.environment = environment_of_solutions();
  options.nvcc_folders = folders_of_nvcc();
  options.python_folders = folders_of_path();
  if (!whet::embedded_python_runner().empty()) options.python_runner = whet::embedded_python_runner().front().contents;
  // As a kill -9: runners and compilers die with this process, and nothing that was being written counts.
  options.leave = [] { _exit(0); };
  options.tools.search = {variable("PATH"), variable("CUDA_HOME"), variable("CUDA_PATH")};
  options.tools.label_rules = std::string(whet::embedded_levers().front().contents);
  if (auto status = whet::serve(options, STDIN_FILENO, wire); !status) {
    std::fprintf(stderr, "whet-worker: %s\n", status.error().what.c_str());
    return 3;
  }
  return 0;
}
