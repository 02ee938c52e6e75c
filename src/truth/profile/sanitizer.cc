// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/sanitizer.h"

#include <algorithm>
#include <cctype>

namespace whet {
namespace {

using Outcome = SanitizerReport::Outcome;
constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kMostFindings = 50;  // distinct ones

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view between(std::string_view text, std::string_view from, std::string_view to) {
  const auto start = text.find(from);
  if (start == std::string_view::npos) return {};
  text.remove_prefix(start + from.size());
  return text.substr(0, std::min(text.find(to), text.size()));
}

// The whole number that ends at `word`: 5 of "ERROR SUMMARY: 5 errors".
int64_t number_before(std::string_view line, std::string_view word) {
  const auto at = line.find(word);
  if (at == std::string_view::npos) return -1;
  int64_t number = 0, digit = 1;
  bool any = false;
  for (auto i = at; i > 0 && digit < 1'000'000'000'000; digit *= 10) {
    const char c = line[--i];
    if (c == ',') {
      digit /= 10;
      continue;
    }
    if (!std::isdigit(static_cast<unsigned char>(c))) break;
    number += (c - '0') * digit;
    any = true;
  }
  return any ? number : -1;
}

// "misaligned(char *)+0x70 in planted.cu:10"
void read_location(std::string_view text, SanitizerFinding& finding) {
  const auto offset = text.rfind("+0x");
  if (offset == std::string_view::npos) return;
  finding.kernel = text.substr(0, offset);
  const auto in = text.find(" in ", offset);
  if (in == std::string_view::npos) return;
  const std::string_view place = text.substr(in + 4);
  finding.place = place.substr(0, place.find(' '));
}

// The first line of a finding, or false.
bool begins(std::string_view line, SanitizerFinding& finding) {
  finding = {};
  finding.sentence = line;
  if (line.starts_with("Invalid ") || line.starts_with("Uninitialized ")) {
    const auto size = line.find(" of size ");
    finding.kind = line.substr(0, size);
    if (size != std::string_view::npos) finding.bytes = std::max<int64_t>(0, number_before(line, " bytes"));
    return true;
  }
  if (line.starts_with("Error: Race reported") || line.starts_with("Warning: Race reported")) {
    finding.kind = "Race";
    read_location(between(line, "access at ", "\n"), finding);
    return true;
  }
  if (has(line, "hazard detected")) {
    finding.kind = "Race";
    finding.address = between(line, "__shared__ ", " ");
    finding.block = between(line, "in block ", " ");
    return true;
  }
  if (line.starts_with("Barrier error") || line.starts_with("Warpgroup") || line.starts_with("Synchronization")) {
    finding.kind = "Barrier error";
    return true;
  }
  if (line.starts_with("Program hit ")) {
    finding.kind = "API error";
    return true;
  }
  if (line.starts_with("Leaked ")) {
    finding.kind = "Leak";
    finding.bytes = std::max<int64_t>(0, number_before(line, " bytes"));
    finding.address = between(line, " at ", " ");
    return true;
  }
  if (line.starts_with("Unused memory")) {
    finding.kind = "Unused memory";
    return true;
  }
  return false;
}

// A line below the first of a finding.
void extend(SanitizerFinding& finding, std::string_view line) {
  if (line.starts_with("at ") && finding.kernel.empty()) read_location(line.substr(3), finding);
  else if (line.starts_with("by thread ")) {
    finding.thread = between(line, "by thread ", " ");
    finding.block = between(line, "in block ", " ");
  } else if (line.starts_with("Access ") && has(line, "to 0x")) {
    finding.address = between(line, "to ", " ");
    finding.detail = between(line, finding.address + " ", "\n");
  } else if (line.starts_with("Address ")) {
    finding.address = between(line, "Address ", " ");
  } else if (line.starts_with("and is ")) {
    finding.detail += (finding.detail.empty() ? "" : ", ") + std::string(line);
  } else if (line.starts_with("and ")) {  // the other side of a race
    finding.detail = line;
  } else if (line.starts_with("Read Thread") || line.starts_with("Write Thread")) {
    if (finding.thread.empty()) {
      finding.thread = between(line, "Thread ", " ");
      read_location(between(line, " at ", "\n"), finding);
    } else {
      finding.detail = line;
    }
  } else if (line.starts_with("Device Frame:") && finding.place.empty()) {
    // The caller, where the place itself has no line.
    SanitizerFinding frame;
    read_location(trimmed(line.substr(13)), frame);
    finding.place = frame.place;
  }
}

// The same thing in many threads is one finding. API errors that follow a broken context are many calls, and one finding.
bool same_matter(const SanitizerFinding& a, const SanitizerFinding& b) {
  if (a.kind == "API error") return b.kind == a.kind;
  return a.kind == b.kind && a.bytes == b.bytes && a.kernel == b.kernel && a.place == b.place && (!a.kernel.empty() || a.sentence == b.sentence);
}

struct Reading {
  SanitizerReport report;
  bool summary = false;
  std::string trouble;  // what the tool said of itself or of the program
  SanitizerFinding current;
  bool open = false;

  void close() {
    if (!std::exchange(open, false)) return;
    for (SanitizerFinding& known : report.findings)
      if (same_matter(known, current)) {
        known.times += current.times;
        return;
      }
    if (report.findings.size() < kMostFindings) report.findings.push_back(std::move(current));
  }

  void take(std::string_view line) {
    SanitizerFinding fresh;
    if (has(line, " SUMMARY: ")) return take_summary(line);
    if (begins(line, fresh)) {
      close();
      current = std::move(fresh);
      open = true;
    } else if (line.empty()) {
      close();
    } else if (line.starts_with("Error: ") || line.starts_with("Target application") || line.starts_with("Internal")) {
      trouble += (trouble.empty() ? "" : "; ") + std::string(line.substr(0, 300));
    } else if (open) {
      extend(current, line);
    }
  }

  void take_summary(std::string_view line) {
    close();
    if (line.starts_with("LEAK")) return;
    summary = true;
    report.errors = std::max<int64_t>(report.errors, number_before(line, " error"));
    report.warnings = std::max<int64_t>(report.warnings, number_before(line, " warning"));
  }
};

std::string counted(int64_t count, const std::string& what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

void conclude(Reading& reading, int exit_code) {
  SanitizerReport& report = reading.report;
  report.errors = std::max<int64_t>(report.errors, 0);
  report.warnings = std::max<int64_t>(report.warnings, 0);
  if (report.errors > 0 || !report.findings.empty() || exit_code == kSanitizerFound) {
    report.outcome = Outcome::found;
    report.sentence = fmt::format("{} found {}{}", report.tool, counted(std::max<int64_t>(report.errors, 1), "error"),
                                  report.warnings > 0 ? " and " + counted(report.warnings, "warning") : "");
    if (!report.findings.empty()) report.sentence += ": " + report.findings.front().sentence;
  } else if (exit_code == 0 && reading.summary) {
    report.outcome = Outcome::clean;
    report.sentence = report.tool + " found nothing";
  } else {
    report.outcome = Outcome::failed;
    report.sentence = fmt::format("{} says nothing about the Solution: ", report.tool);
    if (exit_code == -1) report.sentence += "it had not ended at its time limit";
    else if (!reading.trouble.empty()) report.sentence += fmt::format("{} (exit code {})", reading.trouble, exit_code);
    else report.sentence += fmt::format("exit code {}{}", exit_code, reading.summary ? "" : ", and no summary in what it wrote");
  }
}

}  // namespace

SanitizerReport parse_sanitizer(const std::string& tool, std::string_view text, int exit_code) {
  Reading reading;
  reading.report.tool = tool;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with(kPrefix)) reading.take(trimmed(line.substr(kPrefix.size())));
  }
  reading.close();
  conclude(reading, exit_code);
  return std::move(reading.report);
}

std::string sanitizer_version(std::string_view text) {
  const std::string_view version = between(text, "Version ", " ");
  return std::string(version.substr(0, version.find_first_of("\r\n")));
}

}  // namespace whet
