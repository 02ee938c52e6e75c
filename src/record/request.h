// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "record/evaluation.h"

namespace whet {

// A set of files named by content: path -> sha256. The worker asks for the blobs that it lacks; it reads no path of its caller.
using Manifest = std::map<std::string, std::string>;

struct SolutionRef {
  std::string name;
  Manifest manifest;   // the Solution's folder (solution.json and sources); empty = the Solution of that name in the task
  bool operator==(const SolutionRef&) const = default;
};

inline constexpr int kMostHidden = 10000;

// What the worker's `evaluate` takes. In JSON the members have these names; absent members have these defaults.
struct EvaluateRequest {
  Manifest task;                          // the task's folder
  SolutionRef solution;                   // the candidate
  std::optional<std::vector<SolutionRef>> baselines;  // absent = the task's
  std::string set = "full";               // a named set; ignored when `workloads` is given
  std::vector<std::string> workloads;     // by name
  std::vector<Column> columns = {Column::flushed, Column::resident, Column::cold};
  int min_draws = 6;                      // draws of inputs per workload, each serving one timed call of every Solution
  int max_draws = 40;
  double seconds_per_workload = 1.5;      // no further draw is begun after this
  double target_half_width = 0.01;        // stop when the 95 % interval of ln(ratio to the fastest) is this narrow
  // Give up on a workload after min_draws when the upper end of its ratio to the first baseline is below this (0 = never): for tuners.
  double give_up_below = 0;
  double call_limit_seconds = 10;         // a call of a Solution that takes longer is hung
  int hidden = 0;                         // workloads drawn within the task's ranges, on which the candidate must be right as well
  bool admission = true;                  // check the workloads with mutants first (kept per task version)
  bool noise_floor = true;                // measure A/A in this session (kept for the session)
  std::string confirm_of;                 // the id of the Evaluation that this one repeats with fresh draws and processes; recorded only
  bool operator==(const EvaluateRequest&) const = default;
};

Json to_json(const EvaluateRequest& request);
Expected<EvaluateRequest> evaluate_request_from_json(const Json& json, const std::string& where);

}  // namespace whet
