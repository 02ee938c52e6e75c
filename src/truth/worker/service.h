// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "truth/worker/tools.h"
#include "wire/server.h"

namespace whet {

struct ServiceOptions {
  std::string program;                             // this executable
  std::string version;                             // "whet-worker 0.1.0"
  std::filesystem::path cache_folder;
  std::string abi_header;
  std::map<std::string, std::string> environment;  // of Solutions
  std::vector<std::string> nvcc_folders;           // where nvcc is looked for before /usr/local/cuda/bin
  std::vector<std::string> python_folders;         // where python3 is looked for first
  std::string_view python_runner;                  // contents of whet-python-runner.so
  std::function<void()> leave;                     // ends the process: the client is gone and what it had asked for does not come to an end
  ToolsOptions tools;                              // of profile, sanitize, disassemble
};

// Answers hello, machine, blob.have, blob.put, build, evaluate, profile, sanitize, disassemble on the descriptors until the input ends.
Status serve(const ServiceOptions& options, int input, int output);

}  // namespace whet
