// SPDX-License-Identifier: Apache-2.0
#include "truth/build/nvcc.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/hash.h"
#include "truth/build/compiler.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kIncludes[] = {"include", "targets/x86_64-linux/include", "targets/sbsa-linux/include"};
constexpr const char* kRuntimes[] = {"lib64", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"};
constexpr const char* kParts[] = {"bin/nvcc", "bin/ptxas", "bin/cudafe++", "bin/fatbinary", "bin/nvcc.profile", "nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc"};
// What distributions and images like to make links of.
constexpr const char* kLinked[] = {"", "bin", "nvvm", "include", "lib64", "targets/x86_64-linux/include", "targets/x86_64-linux/lib"};

// The first folder below `root` that has the file; links followed. Empty: none has.
std::string folder_with(const fs::path& root, const auto& folders, const char* file) {
  std::error_code code;
  for (const char* folder : folders)
    if (fs::exists(root / folder / file, code)) return fs::canonical(root / folder, code).string();
  return "";
}

bool is_below(const std::string& path, const std::string& folder) { return path == folder || path.starts_with(folder + "/"); }

std::vector<std::string> real_folders(const fs::path& root) {
  std::vector<std::string> folders;
  for (const char* part : kLinked) {
    std::error_code code;
    const std::string folder = fs::canonical(root / part, code).string();
    if (code || std::ranges::any_of(folders, [&](const std::string& known) { return is_below(folder, known); })) continue;
    folders.push_back(folder);
  }
  return folders;
}

// "Cuda compilation tools, release 13.0, V13.0.88" -> "nvcc 13.0, V13.0.88"
std::string version_in(const std::string& text) {
  constexpr std::string_view kRelease = "release ";
  const size_t at = text.find(kRelease);
  if (at == std::string::npos) return "";
  const size_t begin = at + kRelease.size();
  return "nvcc " + text.substr(begin, text.find('\n', begin) - begin);
}

}  // namespace

Nvcc find_nvcc(std::vector<std::string> folders) {
  folders.emplace_back("/usr/local/cuda/bin");
  Nvcc nvcc;
  std::error_code code;
  for (const std::string& folder : folders) {
    const std::string file = folder + "/nvcc";
    if (!folder.starts_with('/') || ::access(file.c_str(), X_OK) != 0) continue;
    nvcc.path = fs::canonical(file, code).string();
    break;
  }
  if (nvcc.path.empty()) {
    nvcc.missing = "nvcc is not on this machine (looked for in PATH, CUDA_HOME/bin, CUDA_PATH/bin and /usr/local/cuda/bin); install the CUDA toolkit, "
                   "or judge on a machine that has it";
    return nvcc;
  }
  const auto text = ask_compiler({nvcc.path, "--version"});
  nvcc.version = text ? version_in(*text) : "";
  if (nvcc.version.empty()) {
    nvcc.missing = fmt::format("{} does not say its version: {}", nvcc.path, text ? "no \"release\" in what it writes" : text.error().what);
    return nvcc;
  }
  const fs::path root = fs::path(nvcc.path).parent_path().parent_path();
  // A jail sees /usr anyway. What else it is shown must be a toolkit, and not some home that has a bin/nvcc.
  if (fs::is_directory(root / "nvvm", code)) nvcc.folders = real_folders(root);
  else if (root != "/usr") nvcc.missing = fmt::format("{} is not in a toolkit's folder: there is no {}", nvcc.path, (root / "nvvm").string());
  if (!nvcc.usable()) return nvcc;
  nvcc.include_folder = folder_with(root, kIncludes, "cuda_runtime.h");
  nvcc.runtime_folder = folder_with(root, kRuntimes, "libcudart_static.a");
  if (nvcc.include_folder.empty() || nvcc.runtime_folder.empty())
    nvcc.missing = fmt::format("the CUDA toolkit of {} has no {}; install all of it", nvcc.path,
                               nvcc.include_folder.empty() ? "cuda_runtime.h" : "libcudart_static.a");
  std::string parts = *text + nvcc.runtime_folder + "\n";
  for (const char* part : kParts) parts += file_stamp((root / part).string()) + "\n";
  parts += file_stamp(nvcc.runtime_folder + "/libcudart_static.a");
  nvcc.identity = sha256_hex(parts);
  if (nvcc.include_folder == "/usr/include") nvcc.include_folder.clear();
  return nvcc;
}

std::string gencode_of(const std::string& arch) {
  const size_t digits = std::min(arch.find_first_not_of("0123456789"), arch.size());
  const std::string suffix = arch.substr(digits);
  if (digits < 2 || (suffix != "" && suffix != "a" && suffix != "f")) return "";
  return fmt::format("-gencode=arch=compute_{0},code=sm_{0}", arch);
}

}  // namespace whet
