// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// baseline time / Solution time, so above 1 is faster, with a 95 % interval.
struct Ratio {
  double value = 0, low = 0, high = 0;
  bool operator==(const Ratio&) const = default;
};

struct ScoredWorkload {
  std::string workload, family;
  std::string fastest;               // the fastest baseline that ran
  Ratio versus_fastest;
  std::map<std::string, Ratio> versus;  // by baseline
  bool operator==(const ScoredWorkload&) const = default;
};

struct FamilyScore {
  int workloads = 0, correct = 0;
  std::optional<Ratio> geomean;          // of those that are correct and timed
  std::optional<Ratio> geomean_without;  // of all others
  bool operator==(const FamilyScore&) const = default;
};

// The summary of an Evaluation. In JSON: workloads_total, workloads_correct, at_par, geomean_vs_fastest, geomean_vs {baseline: {value, low,
// high, n}}, geomean_correct_only {value, low, high, n}, worst [{workload, ratio}], by_family, goal, goal_met.
struct Scoreboard {
  int workloads_total = 0, workloads_correct = 0;
  int at_par = 0;                                     // ratio against the fastest >= 1
  std::optional<Ratio> geomean_vs_fastest;            // absent unless all workloads of the set are correct and timed
  std::map<std::string, std::pair<Ratio, int>> geomean_vs;  // by baseline, with the number of workloads that it ran; absent likewise
  std::optional<std::pair<Ratio, int>> geomean_correct_only;
  std::vector<ScoredWorkload> workloads;              // the correct and timed ones, slowest ratio first
  std::map<std::string, FamilyScore> by_family;
  std::string goal_metric;
  double goal_value = 0;
  bool goal_met = false;                              // the metric's `low` reaches the value
  bool operator==(const Scoreboard&) const = default;
};

Json to_json(const Ratio& ratio);
Json to_json(const Scoreboard& scoreboard);
Expected<Scoreboard> scoreboard_from_json(const Json& json, const std::string& where);

}  // namespace whet
