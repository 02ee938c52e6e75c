// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "record/task.h"
#include "truth/profile/roofline.h"
#include "truth/profile/tool.h"

namespace whet {

// Writes the call of one workload (its inputs as raw files, and their layout) into an empty folder, as `whet-worker --standalone FOLDER ARTIFACT` reads it.
using WriteCall = std::function<Status(const Task& task, const Workload& workload, const std::filesystem::path& folder)>;

// What the methods profile, sanitize and disassemble need beside a request.
struct ToolsOptions {
  ToolSearch search;
  std::string label_rules;                         // contents of levers/labels.json
  WriteCall write_call;                            // none: this worker has no runner for CUDA Solutions
  std::function<MeasuredCeilings()> ceilings;      // of the device; none: the profiler's own peaks count
  std::filesystem::path scratch_parent = "/tmp";
};

// One call of one Solution that a tool is to look at.
struct ToolsSubject {
  std::string worker;                              // this executable
  std::map<std::string, std::string> environment;  // of Solutions
  const Task* task = nullptr;
  const Workload* workload = nullptr;
  std::string solution;
  std::filesystem::path artifact;
};

// What can be said before anything is built: is there such a tool, and a runner for the call? `method` begins the sentence.
Expected<std::filesystem::path> tool_for(const std::string& method, const ToolsOptions& options);

// {"profile": Profile, "report": base64 of the .ncu-rep, "raw": base64 of its raw page}
Expected<Json> profile_subject(const ToolsOptions& options, const std::filesystem::path& ncu, const ToolsSubject& subject);
// {"sanitizing": Sanitizing}; `tools` empty: all.
Expected<Json> sanitize_subject(const ToolsOptions& options, const std::filesystem::path& sanitizer, const ToolsSubject& subject, const std::vector<std::string>& tools);

struct Built {
  std::string name;
  std::filesystem::path artifact;
};
// {"disassembly": Disassembly}; `against` may be null.
Expected<Json> disassemble_built(const std::filesystem::path& cuobjdump, const Built& built, const Built* against);

}  // namespace whet
