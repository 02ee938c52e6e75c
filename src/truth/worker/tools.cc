// SPDX-License-Identifier: Apache-2.0
#include "truth/worker/tools.h"

#include <algorithm>

#include "base/file.h"
#include "base/json_impl.h"
#include "truth/profile/sass.h"
#include "truth/profile/session.h"
#include "wire/blobs.h"

namespace whet {
namespace {

namespace fs = std::filesystem;

struct Scratch {
  TemporaryDirectory folder;
  ProfiledProgram program;
};

// The call on disk and the command that makes it.
Expected<Scratch> prepare(const ToolsOptions& options, const ToolsSubject& subject) {
  TemporaryDirectory::remove_abandoned("whet-tools", options.scratch_parent);
  Scratch scratch;
  WHET_TRY(scratch.folder, TemporaryDirectory::make("whet-tools", options.scratch_parent));
  const fs::path call = scratch.folder.path() / "call", work = scratch.folder.path() / "work";
  WHET_OK(make_folders(call));
  WHET_OK(make_folders(work));
  WHET_OK(options.write_call(*subject.task, *subject.workload, call));
  scratch.program.argv = standalone_command(subject.worker, call, subject.artifact);
  scratch.program.environment = subject.environment;
  scratch.program.scratch = work;
  return scratch;
}

}  // namespace

Expected<fs::path> tool_for(const std::string& method, const ToolsOptions& options) {
  const std::string name = method == "profile" ? "ncu" : method == "sanitize" ? "compute-sanitizer" : "cuobjdump";
  WHET_TRY_IN(method, fs::path tool, find_profiling_tool(name, options.search));
  if (method != "disassemble" && !options.write_call) return machine_failed("{}: this worker was built without the runner for CUDA Solutions, which makes the call under {}", method, name);
  return tool;
}

Expected<Json> profile_subject(const ToolsOptions& options, const fs::path& ncu, const ToolsSubject& subject) {
  WHET_TRY(const auto rules, read_label_rules(options.label_rules, "levers/labels.json"));
  WHET_TRY_IN("profile", const Scratch scratch, prepare(options, subject));
  WHET_TRY_IN("profile", Profiled profiled, profile_program(ncu, scratch.program, rules, options.ceilings ? options.ceilings() : MeasuredCeilings{}));
  profiled.profile.task = subject.task->name;
  profiled.profile.workload = subject.workload->name;
  profiled.profile.solution = subject.solution;
  return Json{{"profile", to_json(profiled.profile)}, {"report", to_base64(profiled.files.report)}, {"raw", to_base64(profiled.files.raw)}};
}

Expected<Json> sanitize_subject(const ToolsOptions& options, const fs::path& sanitizer, const ToolsSubject& subject, const std::vector<std::string>& tools) {
  WHET_TRY_IN("sanitize", const Scratch scratch, prepare(options, subject));
  WHET_TRY_IN("sanitize", Sanitizing all, sanitize_program(sanitizer, scratch.program, tools.empty() ? sanitizer_tools() : tools));
  all.task = subject.task->name;
  all.workload = subject.workload->name;
  all.solution = subject.solution;
  return Json{{"sanitizing", to_json(all)}};
}

Expected<Json> disassemble_built(const fs::path& cuobjdump, const Built& built, const Built* against) {
  WHET_TRY_IN(built.name, Disassembled code, disassemble_file(cuobjdump, built.artifact));
  Disassembly all;
  all.solution = built.name;
  all.tool = code.tool;
  if (against) {
    WHET_TRY_IN(against->name, const Disassembled other, disassemble_file(cuobjdump, against->artifact));
    all.against = against->name;
    all.differences = difference(other.kernels, code.kernels, all.same_kernels);
  }
  all.kernels = std::move(code.kernels);
  return Json{{"disassembly", to_json(all)}};
}

}  // namespace whet
