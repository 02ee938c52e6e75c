// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/session.h"

#include <fmt/ranges.h>

#include "base/file.h"
#include "truth/profile/derived.h"
#include "truth/profile/ncu.h"
#include "truth/profile/sanitizer.h"
#include "truth/profile/sass.h"

namespace whet {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kMostReport = std::size_t{200} << 20;

Expected<std::string> version_text(const fs::path& tool) {
  WHET_TRY(const ProcessResult result, run_process({.argv = {tool.string(), "--version"}, .deadline = std::chrono::seconds(20)}));
  return result.out;
}

std::string log_text(const fs::path& file) {
  auto text = read_file(file);
  return text ? *text : "";
}

// Every counter that a rule or the roofline may ask for; those that the set lacks come by name.
Status run_ncu(const fs::path& ncu, const ProfiledProgram& program, const fs::path& report, std::vector<std::string>& notes) {
  const fs::path log_file = program.scratch / "ncu.log";
  // The program's output goes to stdout, the tool's into its log: what a Solution prints is not taken for the tool's word.
  WHET_TRY(const ProcessResult result,
           run_under(ncu, Words{"--clock-control", "none", "--set", "full", "--import-source", "yes", "--metrics", fmt::format("{}", fmt::join(counters_beyond_full(), ",")),
                           "--log-file", log_file.string(), "--force-overwrite", "--export", report.string()},
                     program));
  if (result.timed_out) return machine_failed("ncu: it had not ended after {} s; a call of many or long kernels is replayed some 40 times", program.limit.count() / 1000);
  const NcuLog log = parse_ncu_log(log_text(log_file) + result.err);
  notes = log.warnings;
  return check_ncu_run(log, result.exit_code, result.out + result.err);
}

Expected<std::string> raw_page(const fs::path& ncu, const ProfiledProgram& program, const fs::path& report) {
  ProfiledProgram none = program;
  none.argv.clear();
  // Base units: those for people are rounded, 4096 byte to 4 Kbyte.
  WHET_TRY(ProcessResult result, run_under(ncu, Words{"--import", report.string(), "--csv", "--page", "raw", "--print-units", "base"}, none));
  if (!result.ok() || result.truncated) return machine_failed("{}", result.describe({"ncu", "--import"}));
  return std::move(result.out);
}

SanitizerReport run_sanitizer(const fs::path& sanitizer, const ProfiledProgram& program, const std::string& tool) {
  const fs::path log_file = program.scratch / (tool + ".log");
  Words words = {"--tool", tool, "--error-exitcode", std::to_string(kSanitizerFound), "--log-file", log_file.string(), "--print-limit", "1000"};
  // Without a gap behind each allocation an access past its end lands in the next one, and is not seen.
  if (tool == "memcheck") words.insert(words.end(), {"--padding", "512"});
  auto result = run_under(sanitizer, words, program);
  if (!result) {
    SanitizerReport report{.tool = tool};
    report.sentence = fmt::format("{} says nothing about the Solution: {}", tool, result.error().what);
    return report;
  }
  return parse_sanitizer(tool, log_text(log_file) + result->err, result->timed_out ? -1 : result->exit_code);
}

}  // namespace

Expected<Profiled> profile_program(const fs::path& ncu, const ProfiledProgram& program, const std::vector<LabelRule>& rules, const MeasuredCeilings& ceilings) {
  const fs::path report = program.scratch / "call.ncu-rep";
  Profiled profiled;
  WHET_TRY(const std::string version, version_text(ncu));
  profiled.profile.tool = "Nsight Compute " + ncu_version(version);
  WHET_OK(run_ncu(ncu, program, report, profiled.profile.notes));
  WHET_TRY_IN("the profiler's report", profiled.files.report, read_file(report, kMostReport));
  WHET_TRY(profiled.files.raw, raw_page(ncu, program, report));
  WHET_TRY(profiled.profile.launches, parse_ncu_raw(profiled.files.raw));
  for (LaunchProfile& launch : profiled.profile.launches) {
    keep_counters(launch, counters_of_interest());
    add_derived(launch);
    launch.roofline = roofline_of(launch, ceilings);
    label_launch(launch, rules);
    profiled.profile.total_ns += launch.ns;
  }
  label_call(profiled.profile, rules);
  return profiled;
}

const std::vector<std::string>& sanitizer_tools() {
  static const std::vector<std::string> tools = {"memcheck", "racecheck", "initcheck", "synccheck"};
  return tools;
}

Expected<Sanitizing> sanitize_program(const fs::path& sanitizer, const ProfiledProgram& program, const std::vector<std::string>& tools) {
  Sanitizing all;
  WHET_TRY(const std::string version, version_text(sanitizer));
  all.version = sanitizer_version(version);
  for (const std::string& tool : tools) all.reports.push_back(run_sanitizer(sanitizer, program, tool));
  return all;
}

Expected<Disassembled> disassemble_file(const fs::path& cuobjdump, const fs::path& library) {
  const auto run = [&](const char* what) {
    return run_process({.argv = {cuobjdump.string(), what, library.string()}, .max_output = std::size_t{512} << 20, .deadline = std::chrono::seconds(120)});
  };
  WHET_TRY(const ProcessResult code, run("-sass"));
  if (code.timed_out) return machine_failed("cuobjdump: it had not ended after 120 s");
  if (code.truncated) return machine_failed("cuobjdump: the disassembly is larger than 512 MiB");
  Disassembled disassembled{parse_sass(code.out), "cuobjdump"};
  if (code.exit_code != 0 || disassembled.kernels.empty()) return std::unexpected(disassembler_failure(code.exit_code, code.err.empty() ? "does not contain device code" : code.err));
  WHET_TRY(const ProcessResult usage, run("-res-usage"));
  if (usage.ok()) add_resource_usage(disassembled.kernels, usage.out);
  WHET_TRY(const std::string version, version_text(cuobjdump));
  if (const auto at = version.find("release "); at != std::string::npos) disassembled.tool += " " + version.substr(at + 8, version.find(',', at) - at - 8);
  return disassembled;
}

}  // namespace whet
