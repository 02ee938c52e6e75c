// SPDX-License-Identifier: Apache-2.0
#include "truth/build/tool.h"

#include <algorithm>
#include <sstream>

#include "sandbox/jail.h"

namespace whet {
namespace {

bool has_mount_namespace() {
  return std::ranges::any_of(jail_walls(), [](const Wall& wall) { return wall.name == "mount_namespace" && wall.standing; });
}

// The name in the jail of `work`, or of a path below it.
std::string inside(const ToolCall& call, const std::filesystem::path& path) {
  if (!call.same_place || !has_mount_namespace()) return path.string();
  return "/whet-build" + path.string().substr(call.work.string().size());
}

std::chrono::milliseconds time_limit(const ToolCall& call, const BuildOptions& options) {
  return call.time_limit.count() > 0 ? call.time_limit : options.time_limit;
}

JailSpec jail_for(const ToolCall& call, const BuildOptions& options) {
  JailSpec spec;
  spec.argv = call.argv;
  spec.environment = {{"LC_ALL", "C"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"TMPDIR", inside(call, call.out)}};
  spec.read_only = {{call.work.string(), inside(call, call.work)}};
  for (const std::string& folder : call.also_read) spec.read_only.push_back({folder, folder});
  spec.writable = {{call.out.string(), inside(call, call.out)}};
  spec.working_directory = inside(call, call.folder);
  spec.limits = {.memory_bytes = options.memory_bytes,
                 .processes = 64,
                 .file_bytes = options.file_bytes,
                 .cpu_seconds = static_cast<uint64_t>(time_limit(call, options).count() / 1000 + 1) * 2,
                 .open_files = 1024};
  spec.profile = SyscallProfile::build;
  spec.max_output = call.max_output;
  spec.cores = options.cores;
  return spec;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string without(std::string text, const std::string& part) {
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) text.erase(at, part.size());
  return text;
}

// nvcc and its parts: "nvcc fatal   : ...", "ptxas x.ptx, line 3; error   : ...".
bool is_error(const std::string& line) {
  for (const char* part : {"error:", "error   :", "error : ", "fatal   :", "undefined reference", "cannot find -l"})
    if (has(line, part)) return true;
  return false;
}

// A compiler that meets a limit dies in one of its parts; the driver then only ends with 1.
void judge_failure(ToolResult& result, const ToolCall& call, const JailExit& exit, const BuildOptions& options) {
  if (exit.memory_limit_hit || has(result.log, "out of memory allocating") ||
      has(result.log, "virtual memory exhausted") || has(result.log, "memory exhausted") ||
      has(result.log, "LLVM ERROR: out of memory") || has(result.log, "std::bad_alloc")) {
    result.code = Code::compile_too_large;
    result.sentence = fmt::format("{}: the compiler needed more than the {} MiB of memory that it may use",
                                  call.subject, options.memory_bytes >> 20);
  } else if (has(result.log, "File size limit exceeded") || has(result.log, "file too large") ||
             has(result.log, "File too large")) {
    result.code = Code::compile_too_large;
    result.sentence =
        fmt::format("{}: the compiler wrote a file of more than {} MiB", call.subject, options.file_bytes >> 20);
  } else {
    result.code = Code::compile_failed;
    result.sentence = fmt::format("{}: {}", call.subject,
                                  exit.signal != 0 ? "the compiler " + exit.sentence : first_error(result.log));
  }
}

}  // namespace

Expected<ToolResult> run_tool(const ToolCall& call, const BuildOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  WHET_TRY(Jailed jail, Jailed::start(jail_for(call, options)));
  WHET_TRY(auto exit, jail.wait(time_limit(call, options)));
  ToolResult result;
  if (!exit) {
    jail.kill();
    result.code = Code::compile_timed_out;
    result.sentence = fmt::format("{}: the compiler had not ended after {:.0f} s", call.subject,
                                  static_cast<double>(time_limit(call, options).count()) / 1e3);
  }
  result.log = without(without(jail.output(), inside(call, call.out) + "/"), inside(call, call.folder) + "/");
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (exit && exit->killed_from_outside) return machine_failed("{}: the compiler {}", call.subject, exit->sentence);
  if (exit && !exit->ok()) judge_failure(result, call, *exit, options);
  return result;
}

std::string first_error(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (first.empty()) first = line;
    if (is_error(line)) {
      first = line;
      break;
    }
  }
  return first.size() > 400 ? first.substr(0, 400) + "..." : first;
}

std::vector<std::string> undefined_symbols(const std::string& log) {
  std::vector<std::string> names;
  constexpr std::string_view kPhrase = "undefined reference to `";
  for (size_t at = log.find(kPhrase); at != std::string::npos; at = log.find(kPhrase, at + 1)) {
    const size_t begin = at + kPhrase.size();
    const size_t end = log.find_first_of("'\n", begin);
    const std::string name = log.substr(begin, end - begin);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

}  // namespace whet
