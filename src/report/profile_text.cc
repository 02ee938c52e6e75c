// SPDX-License-Identifier: Apache-2.0
#include "report/profile_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "report/bounded.h"
#include "report/numbers.h"

namespace whet {
namespace {

constexpr std::size_t kMostKernels = 6;

// Launches of one kernel under one label, together.
struct Group {
  const LaunchProfile* longest;
  double ns = 0;
  int launches = 0;
};

std::vector<Group> grouped(const Profile& profile) {
  std::vector<Group> groups;
  for (const LaunchProfile& launch : profile.launches) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& known) { return known.longest->kernel == launch.kernel && known.longest->label.id == launch.label.id; });
    if (group == groups.end()) group = groups.insert(groups.end(), Group{&launch});
    if (launch.ns > group->longest->ns) group->longest = &launch;
    group->ns += launch.ns;
    ++group->launches;
  }
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.ns != b.ns ? a.ns > b.ns : a.longest < b.longest; });
  return groups;
}

std::string quantity(double value, const std::string& unit) {
  if (unit == "%") return fmt::format("{:.1f} %", value);
  if (unit == "ns") return time_text(value);
  const bool scaled = unit == "byte/s" || unit == "flop/s" || unit == "byte" || unit == "hz";
  const char* prefixes[] = {"", "K", "M", "G", "T", "P"};
  std::size_t prefix = 0;
  while (scaled && std::abs(value) >= 1000 && prefix + 1 < std::size(prefixes)) value /= 1000, ++prefix;
  const std::string number = scaled && prefix > 0 ? fmt::format("{:.2f}", value) : value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
  return number + (unit.empty() ? "" : " " + std::string(prefixes[prefix]) + unit);
}

std::string reason_text(const LabelReason& reason) {
  return fmt::format("{} = {} ({} {:g})", reason.counter, quantity(reason.found.value, reason.found.unit), reason.at_least ? "at least" : "at most", reason.threshold);
}

// The counters that a person looks at first, each with its name in the profiler.
constexpr std::pair<const char*, const char*> kShown[] = {
    {"device memory busy", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"},
    {"L2 busy", "lts__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"L2 hit rate", "lts__t_sector_hit_rate.pct"},
    {"L1 busy", "l1tex__throughput.avg.pct_of_peak_sustained_active"},
    {"tensor pipe busy", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
    {"FMA pipe busy", "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"},
    {"ALU pipe busy", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"},
    {"special functions busy", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active"},
    {"issue slots used", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {"warps resident", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"warps possible", "sm__maximum_warps_per_active_cycle_pct"},
    {"waves of blocks", "launch__waves_per_multiprocessor"},
    {"registers a thread", "launch__registers_per_thread"},
    {"bytes read", "dram__bytes_read.sum"},
    {"bytes written", "dram__bytes_write.sum"},
};

std::string stalls_text(const LaunchProfile& launch) {
  std::vector<std::pair<double, std::string>> stalls;
  for (const auto& [name, counter] : launch.counters)
    if (name.starts_with("whet__stall_") && counter.value >= 5) stalls.emplace_back(-counter.value, name.substr(12, name.size() - 16));
  std::sort(stalls.begin(), stalls.end());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(stalls.size(), 4); ++i) text += fmt::format("{}{} {:.0f} %", i ? ", " : "", stalls[i].second, -stalls[i].first);
  return text;
}

std::string launch_text(const Group& group, double total_ns, const ReportStyle& style) {
  const LaunchProfile& launch = *group.longest;
  std::string text = fmt::format("{}\n  grid {}, block {}; {}{}, {:.0f} % of the call's kernels\n", tinted(shortened(launch.kernel, 90), Tint::strong, style),
                                 fmt::join(launch.grid, "x"), fmt::join(launch.block, "x"), time_text(group.ns),
                                 group.launches > 1 ? fmt::format(" in {} launches (the longest is shown)", group.launches) : "", total_ns > 0 ? 100 * group.ns / total_ns : 0);
  for (const auto& [words, name] : kShown)
    if (const auto found = launch.counters.find(name); found != launch.counters.end())
      text += fmt::format("  {:<24}{:>12}   {}\n", words, quantity(found->second.value, found->second.unit), tinted(name, Tint::faint, style));
  if (const std::string stalls = stalls_text(launch); !stalls.empty()) text += fmt::format("  {:<24}{}\n", "warps wait for", stalls);
  for (const RooflinePart& part : launch.roofline)
    text += fmt::format("  {:<24}{:>12}   {:.0f} % of {} ({})\n", "roofline: " + part.resource, quantity(part.achieved, part.unit), 100 * part.achieved / part.ceiling,
                        quantity(part.ceiling, part.unit), part.ceiling_from);
  if (!launch.missing.empty()) text += wrapped(fmt::format("  not in the report: {}", fmt::join(launch.missing, ", ")), static_cast<std::size_t>(style.width), 4);
  text += fmt::format("  => {}: {}\n", tinted(launch.label.id, Tint::strong, style), launch.label.meaning);
  for (const LabelReason& reason : launch.label.reasons) text += fmt::format("     {}\n", reason_text(reason));
  if (!launch.label.because.empty()) text += wrapped("     " + launch.label.because, static_cast<std::size_t>(style.width), 5);
  if (!launch.further.empty()) {
    std::vector<std::string> further;
    for (const Label& label : launch.further) further.push_back(label.id);
    text += fmt::format("     these rules hold too: {}\n", fmt::join(further, ", "));
  }
  return text + "\n";
}

}  // namespace

std::string profile_text(const Profile& profile, const ReportStyle& style) {
  const std::vector<Group> groups = grouped(profile);
  std::string text = fmt::format("One call of {} on {} of {}: {} in {}, by {}\n", profile.solution, profile.workload, profile.task,
                                 counted(profile.launches.size(), "launch", "launches"), time_text(profile.total_ns), profile.tool);
  text += "Launches were run one at a time, with flushed caches and clocks as they were: for reasons, not for times.\n\n";
  Bounded bounded(std::move(text));
  for (std::size_t i = 0; i < std::min(groups.size(), kMostKernels); ++i) bounded.add(launch_text(groups[i], profile.total_ns, style));
  bounded.left_out(groups.size(), "kernels");
  std::string end = fmt::format("The call: {}: {}\n", tinted(profile.label.id, Tint::strong, style), profile.label.meaning);
  if (profile.label.id == "host_launch")
    for (const LabelReason& reason : profile.label.reasons) end += fmt::format("  {}\n", reason_text(reason));
  return bounded.text() + end;
}

}  // namespace whet
