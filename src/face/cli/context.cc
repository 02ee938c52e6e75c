// SPDX-License-Identifier: Apache-2.0
#include "face/cli/context.h"

#include <pwd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

extern char** environ;

namespace whet {
namespace {

std::string home_of_user(const Context& context) {
  if (const std::string home = context.variable("HOME"); !home.empty()) return home;
  const passwd* entry = getpwuid(getuid());
  return entry && entry->pw_dir ? entry->pw_dir : "";
}

Expected<std::string> folder(const Context& context, const std::string& given, const char* flag, const char* variable, const char* below_home) {
  if (!given.empty()) return given;
  if (const std::string base = context.variable(variable); base.starts_with("/")) return base + "/whet";
  const std::string home = home_of_user(context);
  if (home.empty()) return bad_input("this user has no home folder; give {} DIR, or set HOME or {}", flag, variable);
  return home + below_home;
}

}  // namespace

std::string Context::variable(const std::string& name) const {
  const auto it = environment.find(name);
  return it == environment.end() ? "" : it->second;
}

Expected<std::string> Context::data_folder(const std::string& given) const {
  return folder(*this, given, "--data", "XDG_DATA_HOME", "/.local/share/whet");
}

Expected<std::string> Context::cache_folder(const std::string& given) const {
  return folder(*this, given, "--cache", "XDG_CACHE_HOME", "/.cache/whet");
}

std::map<std::string, std::string> Context::worker_environment() const {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : environment) {
    const bool compute = name.starts_with("OPENBLAS_") || name.starts_with("ONEDNN_") || name.starts_with("DNNL_") || name.starts_with("CUDA_");
    if (compute || name == "PATH" || name == "LD_LIBRARY_PATH" || name == "TMPDIR" || name == "HOME" || name == "LANG") kept[name] = value;
  }
  if (!kept.contains("PATH")) kept["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  return kept;
}

Context look_around(std::span<const EmbeddedFile> shipped_tasks) {
  Context context;
  context.shipped_tasks = shipped_tasks;
  for (char** entry = environ; *entry; ++entry) {
    const std::string text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string::npos) context.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  std::error_code error;
  context.program_folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
  context.out_is_terminal = isatty(STDOUT_FILENO) == 1;
  context.err_is_terminal = isatty(STDERR_FILENO) == 1 && context.variable("TERM") != "dumb";
  // https://no-color.org: any value that is not empty.
  context.colour = context.out_is_terminal && context.variable("NO_COLOR").empty() && context.variable("TERM") != "dumb";
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) context.columns = size.ws_col;
  return context;
}

int exit_code_of(const Error& error) { return error.blame == Blame::input ? kBadInput : kMachineFailed; }

void print(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stdout); }

Status finish_output() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) return system_error("write to standard output", errno ? errno : EIO);
  return {};
}

void complain(const std::string& message) {
  const std::string line = "whet: " + message + "\n";
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace whet
