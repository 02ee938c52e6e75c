// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace whet {

// What is known of the CUDA toolkit; it is asked once, outside any jail.
struct Nvcc {
  std::string path;            // absolute, links followed; empty when there is none
  std::string version;         // "nvcc 13.0, V13.0.88"
  std::string include_folder;  // with cuda_runtime.h; empty where every compiler looks there anyway
  std::string runtime_folder;  // with libcudart_static.a
  std::vector<std::string> folders;  // that its parts are in, links followed: what a jail has to show
  std::string identity;        // hash of all that can change what it produces
  std::string missing;         // why there is none, what to do; empty when it can be used

  bool usable() const { return missing.empty(); }
};

// The first nvcc of these folders (PATH, CUDA_HOME/bin, CUDA_PATH/bin: what the caller's environment says), then of /usr/local/cuda/bin.
Nvcc find_nvcc(std::vector<std::string> folders);

// "-gencode=arch=compute_90a,code=sm_90a" of "90a"; empty for what cannot be an architecture.
std::string gencode_of(const std::string& arch);

}  // namespace whet
