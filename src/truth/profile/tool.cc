// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/tool.h"

#include <unistd.h>

#include <algorithm>

namespace whet {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

std::vector<fs::path> path_folders(const std::string& path) {
  std::vector<fs::path> folders;
  for (std::size_t start = 0; start < path.size();) {
    const std::size_t end = std::min(path.find(':', start), path.size());
    // An empty entry would be the working directory, which is nobody's to choose.
    if (end > start) folders.emplace_back(path.substr(start, end - start));
    start = end + 1;
  }
  return folders;
}

// The version folders of Nsight Compute, newest first.
std::vector<fs::path> nsight_folders(const fs::path& root) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (fs::directory_iterator it(root / "opt/nvidia/nsight-compute", error), end; !error && it != end; it.increment(error)) folders.push_back(it->path());
  std::sort(folders.rbegin(), folders.rend());
  return folders;
}

}  // namespace

Expected<fs::path> find_profiling_tool(const std::string& name, const ToolSearch& search) {
  std::vector<fs::path> folders = path_folders(search.path);
  for (const std::string& home : {search.cuda_home, search.cuda_path})
    if (!home.empty()) folders.push_back(fs::path(home) / "bin");
  folders.push_back(search.root / "usr/local/cuda/bin");
  if (name == "ncu")
    for (const fs::path& folder : nsight_folders(search.root)) folders.push_back(folder);
  for (const fs::path& folder : folders)
    if (is_program(folder / name)) return folder / name;
  const char* from = name == "ncu" ? "Nsight Compute (package cuda-nsight-compute) brings it" : name == "compute-sanitizer" ? "the CUDA toolkit (package cuda-sanitizer) brings it" : "the CUDA toolkit (package cuda-cuobjdump) brings it";
  return machine_failed("{} is missing on the worker's machine: not in PATH, CUDA_HOME/bin, /usr/local/cuda/bin{}; {}", name,
                        name == "ncu" ? " or /opt/nvidia/nsight-compute" : "", from);
}

std::vector<std::string> standalone_command(const std::string& worker, const fs::path& folder, const fs::path& artifact) {
  return {worker, "--standalone", folder.string(), artifact.string()};
}

Expected<ProcessResult> run_under(const fs::path& tool, std::vector<std::string> words, const ProfiledProgram& program) {
  ProcessSpec spec;
  spec.argv = {tool.string()};
  spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  spec.argv.insert(spec.argv.end(), program.argv.begin(), program.argv.end());
  spec.environment = program.environment;
  (*spec.environment)["LC_ALL"] = "C";
  // ncu unpacks its sections below HOME and locks the device through a file in TMPDIR, which another user's would block.
  (*spec.environment)["HOME"] = program.scratch.string();
  (*spec.environment)["TMPDIR"] = program.scratch.string();
  spec.working_directory = program.scratch;
  spec.deadline = program.limit;
  spec.max_output = std::size_t{64} << 20;
  return run_process(spec);
}

}  // namespace whet
