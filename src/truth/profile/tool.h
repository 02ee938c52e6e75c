// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/process.h"

namespace whet {

// Where the tools of the CUDA toolkit may be: the folders of PATH, then CUDA_HOME/bin and CUDA_PATH/bin, /usr/local/cuda/bin, then (for ncu) the newest
// folder of /opt/nvidia/nsight-compute.
struct ToolSearch {
  std::string path, cuda_home, cuda_path;  // of the worker's own environment; empty: unset
  std::filesystem::path root = "/";        // in front of the fixed places; for tests
};

// The file of "ncu", "cuobjdump", "compute-sanitizer", or an error of one line: what is missing, where it was looked for, what brings it.
Expected<std::filesystem::path> find_profiling_tool(const std::string& name, const ToolSearch& search);

// The program under ncu or compute-sanitizer: it makes one call of a Solution, in a process of its own, and ends with 0.
struct ProfiledProgram {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // whole; the tools add to it
  std::filesystem::path scratch;                    // empty, writable: reports and logs of the tools go there
  std::chrono::milliseconds limit{300'000};         // for each run of a tool
};

// The command line of that program: the worker's own executable, which loads the artifact, reads the call from `folder` (its inputs as raw files and their
// layout), calls prepare and run once, and waits for the device. It has private buffers: tools that replay kernels cannot be lent any.
std::vector<std::string> standalone_command(const std::string& worker, const std::filesystem::path& folder, const std::filesystem::path& artifact);

// `tool` with these words in front of the program. What went wrong inside is in the result.
Expected<ProcessResult> run_under(const std::filesystem::path& tool, std::vector<std::string> words, const ProfiledProgram& program);

}  // namespace whet
