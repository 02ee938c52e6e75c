// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "record/definition.h"
#include "record/solution.h"
#include "record/workload.h"

namespace whet {

struct Goal {
  std::string metric = "geomean_vs_fastest";  // or geomean_vs:BASELINE
  double value = 1.0;
  bool operator==(const Goal&) const = default;
};

// What hidden workloads are drawn from, by the name of
//   an axis or scalar: a list of values (true is 1), or an interval with both ends and a step. A step of 0 means every value of the interval: the default
//     for scalars of a float dtype; 1 is the default for all others;
//   an axis that follows from others: an expression over those that are drawn;
//   an integer tensor with one axis: the lengths of sequences, or their running sums.
struct Range {
  std::vector<double> values;  // non-empty: exactly these
  double min = 0, max = 0, step = 1;
  std::string follows;  // "batch + 1"
  // Of lengths only.
  std::string most;     // in the place of `max`: an expression over axes
  std::string total;    // the tensor holds running sums that begin with 0, and the last of them is this axis
  std::string longest;  // the integer scalar that is the longest length
  bool operator==(const Range&) const = default;
};

struct Task {
  std::string name, title;
  std::string target = "cpu";  // cpu or cuda
  std::vector<Definition> definitions;
  std::vector<Workload> workloads;          // all, in file order
  std::map<std::string, std::string> sets;  // set name -> description; membership is Workload.sets
  std::string reference;                    // names of Solutions
  std::vector<std::string> baselines;
  std::string start;
  std::map<std::string, Solution> solutions;  // by folder name
  std::vector<std::string> editable;          // globs below the candidate's folder
  Goal goal;
  std::vector<std::string> rules;
  std::map<std::string, Range> ranges;   // axis or scalar name -> range
  std::string tolerance_policy;          // for people
  std::map<Dtype, Tolerance> tolerance;  // what a workload without a tolerance of its own gets, by the output's dtype
  bool operator==(const Task&) const = default;

  const Definition* definition(std::string_view name) const;
  const Workload* workload(std::string_view name) const;
  std::vector<const Workload*> set(std::string_view name) const;  // empty when unknown
};

}  // namespace whet
