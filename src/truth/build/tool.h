// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/verdict.h"
#include "truth/build/builder.h"

namespace whet {

// One compiler or linker call in a jail that sees the system's own files and `work` read-only, and can write `out` (below `work`).
struct ToolCall {
  std::vector<std::string> argv;  // argv[0] absolute
  std::filesystem::path work, folder, out;
  std::string subject;  // for sentences: "a/b.cc", "linking"
  std::vector<std::string> also_read = {};  // folders of the host that it sees too
  std::chrono::milliseconds time_limit = {};  // 0: that of the options
  size_t max_output = size_t{64} << 10;       // of its log; head and tail
  // `work` has the same name in every build, where the machine grants a jail a view of its own: for compilers that write it into what they make.
  // So argv may not name it.
  bool same_place = false;
};

struct ToolResult {
  Code code = Code::correct;  // else compile_failed, compile_timed_out, compile_too_large
  std::string sentence;
  std::string log;
  double seconds = 0;
};

Expected<ToolResult> run_tool(const ToolCall& call, const BuildOptions& options);

// "a.cc:3:1: error: ..." of a compiler's log; the first line if there is no such line.
std::string first_error(const std::string& log);

// The names in a linker's "undefined reference to `f(int)'" lines, each once, in order.
std::vector<std::string> undefined_symbols(const std::string& log);

}  // namespace whet
