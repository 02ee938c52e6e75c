// SPDX-License-Identifier: Apache-2.0
// The texts of disassemble and sanitize.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/bounded.h"
#include "report/profile_text.h"

namespace whet {
namespace {

constexpr std::size_t kMostOpcodes = 12, kMostLocalLines = 8;

// Classes by weight: "integer 23, branch 12, ...".
std::string mix_text(const SassKernel& kernel) {
  std::vector<std::pair<int64_t, std::string>> classes;
  for (const auto& [name, count] : kernel.classes) classes.emplace_back(-count, name);
  std::sort(classes.begin(), classes.end());
  std::string text;
  for (const auto& [count, name] : classes) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, -count);
  return text;
}

std::string kernel_text(const SassKernel& kernel, const ReportStyle& style) {
  std::string text = fmt::format("{}\n  {} instructions for {}", tinted(shortened(kernel.name, 90), Tint::strong, style), kernel.instructions, kernel.architecture);
  if (kernel.registers >= 0) text += fmt::format(", {} registers, {} bytes of stack, {} bytes of shared memory", kernel.registers, kernel.stack_bytes, kernel.shared_bytes);
  text += "\n" + wrapped("  " + mix_text(kernel), static_cast<std::size_t>(style.width), 4);
  const auto local = kernel.classes.find("local memory");
  if (local == kernel.classes.end()) return text;
  text += fmt::format("  {} read or write local memory (spilled registers, or an array indexed at run time):\n", counted(static_cast<std::size_t>(local->second), "instruction", "instructions"));
  for (std::size_t i = 0; i < std::min(kernel.local_memory.size(), kMostLocalLines); ++i) text += "    " + kernel.local_memory[i] + "\n";
  return text;
}

std::string changes_text(const std::vector<CountChange>& changes, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(changes.size(), most); ++i) {
    const CountChange& change = changes[i];
    const char* mark = change.before == 0 ? " (new)" : change.after == 0 ? " (gone)" : "";
    text += fmt::format("{}{} {} -> {}{}", text.empty() ? "" : ", ", change.what, change.before, change.after, mark);
  }
  if (changes.size() > most) text += fmt::format(", and {} more", changes.size() - most);
  return text;
}

std::string difference_text(const KernelDifference& difference, const Disassembly& all, const ReportStyle& style) {
  const std::string name = tinted(shortened(difference.name, 90), Tint::strong, style);
  if (difference.only_in == "before") return fmt::format("{}\n  only in {} ({} instructions)\n", name, all.against, difference.before);
  if (difference.only_in == "after") return fmt::format("{}\n  only in {} ({} instructions)\n", name, all.solution, difference.after);
  std::string text = fmt::format("{}\n  instructions {} -> {}\n", name, difference.before, difference.after);
  if (!difference.classes.empty()) text += wrapped("  classes: " + changes_text(difference.classes, 24), static_cast<std::size_t>(style.width), 4);
  return text + wrapped("  opcodes: " + changes_text(difference.opcodes, kMostOpcodes), static_cast<std::size_t>(style.width), 4);
}

std::string finding_text(const SanitizerFinding& finding, const ReportStyle& style) {
  std::string text = fmt::format("  {}{}\n", finding.sentence, finding.times > 1 ? fmt::format("  ({} times)", finding.times) : "");
  std::string where;
  const auto add = [&](const std::string& words, const std::string& value) {
    if (!value.empty()) where += (where.empty() ? "" : ", ") + words + value;
  };
  add("in ", finding.kernel);
  add("at ", finding.place);
  add("address ", finding.address);
  add("block ", finding.block);
  add("thread ", finding.thread);
  add("", finding.detail);
  return where.empty() ? text : text + wrapped("    " + where, static_cast<std::size_t>(style.width), 4);
}

}  // namespace

std::string disassembly_text(const Disassembly& disassembly, const ReportStyle& style) {
  Bounded bounded(fmt::format("{}: {} of device code, by {}\n\n", disassembly.solution, counted(disassembly.kernels.size(), "function", "functions"), disassembly.tool));
  if (!disassembly.against.empty()) {
    Bounded differences(fmt::format("From {} to {}: {} the same, {} not\n\n", disassembly.against, disassembly.solution,
                                    counted(static_cast<std::size_t>(disassembly.same_kernels), "function is", "functions are"), disassembly.differences.size()),
                        5000);
    for (const KernelDifference& difference : disassembly.differences) differences.add(difference_text(difference, disassembly, style));
    differences.left_out(disassembly.differences.size(), "differences");
    bounded = Bounded(bounded.text() + differences.text() + "\n");
  }
  std::vector<const SassKernel*> largest;
  for (const SassKernel& kernel : disassembly.kernels) largest.push_back(&kernel);
  std::sort(largest.begin(), largest.end(),
            [](const SassKernel* a, const SassKernel* b) { return a->instructions != b->instructions ? a->instructions > b->instructions : a < b; });
  for (const SassKernel* kernel : largest) bounded.add(kernel_text(*kernel, style));
  bounded.left_out(largest.size(), "functions");
  return bounded.text();
}

std::string sanitizing_text(const Sanitizing& sanitizing, const ReportStyle& style) {
  Bounded bounded(fmt::format("One call of {} on {} of {}, by compute-sanitizer {}\n\n", sanitizing.solution, sanitizing.workload, sanitizing.task, sanitizing.version));
  std::size_t findings = 0;
  for (const SanitizerReport& report : sanitizing.reports) {
    const bool clean = report.outcome == SanitizerReport::Outcome::clean;
    bounded.add(fmt::format("{:<10} {}\n", report.tool, tinted(report.sentence, clean ? Tint::good : Tint::bad, style)));
    for (const SanitizerFinding& finding : report.findings) bounded.add(finding_text(finding, style));
    findings += report.findings.size() + 1;
  }
  bounded.left_out(findings, "lines of findings");
  return bounded.text();
}

}  // namespace whet
