// SPDX-License-Identifier: Apache-2.0
#include "truth/build/tool.h"

#include <algorithm>
#include <sstream>

#include "sandbox/jail.h"

namespace whet {
namespace {

constexpr size_t kMaxLog = size_t{64} << 10;

JailSpec jail_for(const ToolCall& call, const BuildOptions& options) {
  JailSpec spec;
  spec.argv = call.argv;
  spec.environment = {{"LC_ALL", "C"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"TMPDIR", call.out.string()}};
  spec.read_only = {{call.work.string(), call.work.string()}};
  spec.writable = {{call.out.string(), call.out.string()}};
  spec.working_directory = call.folder.string();
  spec.limits = {.memory_bytes = options.memory_bytes,
                 .processes = 64,
                 .file_bytes = options.file_bytes,
                 .cpu_seconds = static_cast<uint64_t>(options.time_limit.count() / 1000 + 1) * 2,
                 .open_files = 1024};
  spec.profile = SyscallProfile::build;
  spec.max_output = kMaxLog;
  spec.cores = options.cores;
  return spec;
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A compiler that meets a limit dies in one of its parts; the driver then only ends with 1.
void judge_failure(ToolResult& result, const ToolCall& call, const JailExit& exit, const BuildOptions& options) {
  if (exit.memory_limit_hit || has(result.log, "out of memory allocating") ||
      has(result.log, "virtual memory exhausted") || has(result.log, "memory exhausted")) {
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
  WHET_TRY(auto exit, jail.wait(options.time_limit));
  ToolResult result;
  if (!exit) {
    jail.kill();
    result.code = Code::compile_timed_out;
    result.sentence = fmt::format("{}: the compiler had not ended after {:.0f} s", call.subject,
                                  static_cast<double>(options.time_limit.count()) / 1e3);
  }
  result.log = jail.output();
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
    if (has(line, "error:") || has(line, "undefined reference") || has(line, "cannot find -l")) {
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
