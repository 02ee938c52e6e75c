// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/ncu.h"

#include <algorithm>
#include <cstdio>

#include "truth/profile/csv.h"
#include "truth/profile/unit.h"

namespace whet {
namespace {

using Row = std::vector<std::string>;

constexpr std::string_view kHeader = "\"ID\",\"Process ID\"";

// "(32, 2, 1)"
std::array<int64_t, 3> extent(const std::string& text) {
  long long x = 0, y = 0, z = 0;
  if (std::sscanf(text.c_str(), "(%lld, %lld, %lld)", &x, &y, &z) != 3) return {};
  return {x, y, z};
}

LaunchProfile launch_of(const Row& header, const Row& units, const Row& row) {
  LaunchProfile launch;
  for (std::size_t i = 0; i < header.size(); ++i) {
    const std::string& name = header[i];
    if (name == "Kernel Name") launch.kernel = row[i];
    if (name == "Grid Size") launch.grid = extent(row[i]);
    if (name == "Block Size") launch.block = extent(row[i]);
    if (name == "CC") launch.compute_capability = row[i];
    if (name == "device__attribute_display_name") launch.device = row[i];
    // Counters have names like unit__what.how; the columns before them have not.
    if (name.find("__") == std::string::npos) continue;
    if (auto counter = normalised(row[i], units[i])) launch.counters.emplace(name, *std::move(counter));
  }
  if (const auto time = launch.counters.find("gpu__time_duration.sum"); time != launch.counters.end()) launch.ns = time->second.value;
  return launch;
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  const auto start = text.rfind('\n');
  return std::string(text.substr(start == std::string_view::npos ? 0 : start + 1).substr(0, 300));
}

void add_once(std::vector<std::string>& lines, std::string_view line) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  if (!line.empty() && std::find(lines.begin(), lines.end(), line) == lines.end()) lines.emplace_back(line.substr(0, 600));
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

Expected<std::vector<LaunchProfile>> parse_ncu_raw(std::string_view text) {
  const auto start = text.find(kHeader);
  if (start == std::string_view::npos) return bad_input("the profiler's raw page has no table: expected a line that begins with {}, found none", kHeader);
  const std::vector<Row> rows = parse_csv(text.substr(start));
  if (rows.size() < 3) return bad_input("the profiler's raw page has {} rows; expected the names, the units and at least one launch", rows.size());
  std::vector<LaunchProfile> launches;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (rows[i].size() != rows[0].size()) {
      // Tool lines may follow the table.
      if (i > 2 && rows[i].front().starts_with("==")) break;
      return bad_input("the profiler's raw page: row {} has {} cells; expected {}, as the header has", i + 1, rows[i].size(), rows[0].size());
    }
    if (i >= 2) launches.push_back(launch_of(rows[0], rows[1], rows[i]));
  }
  return launches;
}

void keep_counters(LaunchProfile& launch, std::span<const std::string> wanted) {
  std::map<std::string, Counter> kept;
  for (const std::string& name : wanted) {
    const auto found = launch.counters.find(name);
    if (found != launch.counters.end()) kept.insert(*found);
    else if (std::find(launch.missing.begin(), launch.missing.end(), name) == launch.missing.end()) launch.missing.push_back(name);
  }
  launch.counters = std::move(kept);
}

NcuLog parse_ncu_log(std::string_view text) {
  NcuLog log;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.starts_with("==PROF== Profiling ")) ++log.launches;
    if (line.starts_with("==WARNING==")) {
      if (has(line, "No kernels were profiled")) log.no_kernels = true;
      add_once(log.warnings, line.substr(11));
    }
    if (!line.starts_with("==ERROR==")) continue;
    if (has(line, "ERR_NVGPUCTRPERM")) log.no_permission = true;
    if (has(line, "No compatible GPU") || has(line, "no CUDA-capable device") || has(line, "Failed to find any") || has(line, "No supported GPU")) log.no_device = true;
    add_once(log.errors, line.substr(9));
  }
  return log;
}

Status check_ncu_run(const NcuLog& log, int exit_code, std::string_view program_output) {
  if (log.no_permission)
    return machine_failed(
        "ncu: this user may not read the GPU's counters (ERR_NVGPUCTRPERM). Run the worker as root, or let an administrator load the driver with "
        "NVreg_RestrictProfilingToAdminUsers=0 (a line 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' in /etc/modprobe.d, then a reboot); in a container "
        "it also needs --cap-add=SYS_ADMIN");
  if (log.no_device) return machine_failed("ncu: {}", log.errors.front());
  if (exit_code != 0 && log.errors.empty()) return machine_failed("ncu: exit code {}: {}", exit_code, last_line(program_output));
  if (!log.errors.empty()) {
    std::string all;
    for (const std::string& error : log.errors) all += (all.empty() ? "" : "; ") + error;
    const std::string said = last_line(program_output);
    return machine_failed("ncu: {}{}", all, said.empty() ? "" : "; the program's last line: " + said);
  }
  if (log.no_kernels || log.launches == 0) return machine_failed("ncu: no kernel was launched in the call, so there is nothing to profile");
  return {};
}

std::string ncu_version(std::string_view text) {
  const auto at = text.find("Version ");
  if (at == std::string_view::npos) return "";
  text.remove_prefix(at + 8);
  return std::string(text.substr(0, text.find_first_of(" \r\n")));
}

}  // namespace whet
