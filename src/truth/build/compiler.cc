// SPDX-License-Identifier: Apache-2.0
#include "truth/build/compiler.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "base/hash.h"
#include "base/process.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolders[] = {"/usr/local/bin/", "/usr/bin/", "/bin/"};
constexpr const char* kNames[][2] = {
    {"g++", "gcc"}, {"g++-14", "gcc-14"}, {"g++-13", "gcc-13"}, {"g++-12", "gcc-12"}, {"clang++", "clang"}};

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// The options that -march=native switches on: "-march=znver4 -mavx2 ...", on one line.
std::string resolve_native(const std::string& cxx) {
  const auto help = ask_compiler({cxx, "-march=native", "-Q", "--help=target"});
  if (!help) return "not known: " + help.error().what;
  std::istringstream lines(*help);
  std::string resolved;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string option, value;
    words >> option >> value;
    if (!option.starts_with("-m")) continue;
    if (option == "-march=" || option == "-mtune=") resolved += (resolved.empty() ? "" : " ") + option + value;
    if (value == "[enabled]") resolved += (resolved.empty() ? "" : " ") + option;
  }
  return resolved;
}

}  // namespace

Expected<std::string> ask_compiler(const std::vector<std::string>& argv, const std::string& input) {
  const ProcessSpec spec{
      .argv = argv,
      .environment = std::map<std::string, std::string>{{"LC_ALL", "C"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}},
      .stdin_text = input,
      .deadline = std::chrono::seconds(20)};
  WHET_TRY(const ProcessResult result, run_process(spec));
  if (!result.ok()) return machine_failed("{}", result.describe(argv));
  return result.out;
}

std::string file_stamp(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return path + " absent";
  return fmt::format("{} {} {}.{}", path, about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

Expected<Compiler> find_compiler(const std::string& cxx, const std::string& cc) {
  Compiler compiler;
  compiler.cxx = cxx;
  compiler.cc = cc;
  for (const auto& name : kNames)
    for (const char* folder : kFolders) {
      if (!compiler.cxx.empty()) break;
      if (::access((std::string(folder) + name[0]).c_str(), X_OK) != 0) continue;
      compiler.cxx = std::string(folder) + name[0];
      if (compiler.cc.empty()) compiler.cc = std::string(folder) + name[1];
    }
  if (compiler.cxx.empty())
    return machine_failed("no C++ compiler in /usr/local/bin, /usr/bin or /bin; install one: apt-get install g++");
  if (!compiler.cxx.starts_with('/') || ::access(compiler.cxx.c_str(), X_OK) != 0)
    return machine_failed("{}: expected the absolute path of a C++ compiler", compiler.cxx);
  if (compiler.cc.empty()) compiler.cc = compiler.cxx;
  WHET_TRY(const std::string version, ask_compiler({compiler.cxx, "--version"}));
  WHET_TRY(const std::string target, ask_compiler({compiler.cxx, "-dumpmachine"}));
  compiler.version = first_line(version);
  compiler.target = first_line(target);
  compiler.native = resolve_native(compiler.cxx);
  std::error_code code;
  std::string parts = compiler.version + "\n" + compiler.target + "\n";
  for (const char* part : {"cc1plus", "cc1", "as", "ld"}) {
    const auto file = ask_compiler({compiler.cxx, fmt::format("-print-prog-name={}", part)});
    std::string path = file ? first_line(*file) : part;
    if (!path.starts_with('/')) path = "/usr/bin/" + path;
    parts += file_stamp(fs::canonical(path, code).string()) + "\n";
  }
  compiler.identity = sha256_hex(parts);
  return compiler;
}

namespace {

const std::vector<Dependency>& dependencies() {
  static const std::vector<Dependency> table = {
      {"cudnn_frontend", "cudnn_frontend.h", "libcudnn.so", {"-lcudnn"}, "libcudnn9-dev-cuda-13, and put the headers of github.com/NVIDIA/cudnn-frontend below /usr/local/include"},
      {"onednn", "dnnl.h", "libdnnl.so", {"-ldnnl"}, "libdnnl-dev"},
      {"openblas", "cblas.h", "libopenblas.so", {"-lopenblas"}, "libopenblas-dev"},
  };
  return table;
}

}  // namespace

const Dependency* find_dependency(const std::string& name) {
  for (const Dependency& dependency : dependencies())
    if (dependency.name == name) return &dependency;
  return nullptr;
}

std::string known_dependencies() {
  std::string names;
  for (const Dependency& dependency : dependencies()) names += (names.empty() ? "" : ", ") + dependency.name;
  return names;
}

FoundDependency probe_dependency(const Compiler& compiler, const Dependency& dependency) {
  FoundDependency found;
  const std::string question = fmt::format("#if __has_include(<{}>)\nheader_is_there\n#endif\n", dependency.header);
  const auto answer = ask_compiler({compiler.cxx, "-E", "-P", "-x", "c++", "-"}, question);
  const auto file = ask_compiler({compiler.cxx, "-print-file-name=" + dependency.library});
  const std::string path = file ? first_line(*file) : "";
  std::string absent;
  if (!answer || answer->find("header_is_there") == std::string::npos) absent = "header " + dependency.header;
  if (!path.starts_with('/')) absent += (absent.empty() ? "library " : " and library ") + dependency.library;
  if (!absent.empty()) {
    found.missing = fmt::format("\"{}\" is not on this machine (no {}); install it: apt-get install {}",
                                dependency.name, absent, dependency.packages);
    return found;
  }
  std::error_code code;
  found.file = file_stamp(fs::canonical(path, code).string());
  return found;
}

}  // namespace whet
