// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// A number that a profiler read, in a base unit: "ns", "byte", "byte/s", "hz", "%", "cycle", "inst", "" (a count or a ratio). Names that begin with
// "whet__" are computed from others (docs/profiling.md has the formulas).
struct Counter {
  double value = 0;
  std::string unit;
  bool operator==(const Counter&) const = default;
};

// One counter behind a label: "gpu__dram_throughput... is 78 %, at least 60".
struct LabelReason {
  std::string counter;
  Counter found;
  bool at_least = true;  // else at most
  double threshold = 0;
  bool operator==(const LabelReason&) const = default;
};

// What limits a kernel; id "unknown" where no rule holds.
struct Label {
  std::string id = "unknown";
  std::string meaning;  // one sentence
  std::string because;  // why these thresholds
  std::vector<LabelReason> reasons;
  bool operator==(const Label&) const = default;
};

// How near a kernel came to one ceiling of the machine.
struct RooflinePart {
  std::string resource;  // "dram", "tensor bf16", "f32"
  double achieved = 0, ceiling = 0;
  std::string unit;           // "byte/s" or "flop/s"
  std::string ceiling_from;   // "measured on this machine", "the profiler's peak at the clock of this run"
  bool operator==(const RooflinePart&) const = default;
};

// One launch of a kernel.
struct LaunchProfile {
  std::string kernel;
  std::array<int64_t, 3> grid{}, block{};
  std::string device, compute_capability;
  double ns = 0;
  std::map<std::string, Counter> counters;  // those that rules and roofline know; all are in the profiler's own report
  std::vector<std::string> missing;         // asked for, and not in the report
  std::vector<RooflinePart> roofline;
  Label label;
  std::vector<Label> further;               // other rules that hold
  bool operator==(const LaunchProfile&) const = default;
};

// What a profiler saw of one call of a Solution on one workload.
struct Profile {
  std::string task, workload, solution;
  std::string tool;  // "Nsight Compute 2025.3.1.0"
  std::vector<LaunchProfile> launches;  // in the order of the call
  double total_ns = 0;                  // of all launches, as profiled: one at a time, caches flushed before each
  Label label;                          // of the whole call: that of the launches with most time behind them, or host_launch
  std::vector<std::string> notes;       // warnings of the profiler
  bool operator==(const Profile&) const = default;
};

Json to_json(const Profile& profile);
Expected<Profile> profile_from_json(const Json& json, const std::string& where);

}  // namespace whet
