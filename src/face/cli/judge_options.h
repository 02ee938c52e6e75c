// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "face/cli/arguments.h"
#include "record/request.h"
#include "record/task.h"

namespace whet {

// Enough to meet each Definition of a task several times, and less than a second for the shipped ones.
inline constexpr int kHiddenWorkloads = 6;

// What is judged, and how thoroughly: the options that evaluate, compare and optimize share.
struct JudgeOptions {
  std::string set = "full";
  std::vector<std::string> workloads;
  double seconds = 1.5;
  int draws = 40;
  int hidden = kHiddenWorkloads;

  void declare_set(Arguments& arguments);
  void declare(Arguments& arguments);  // the set, single workloads, seconds and draws

  // Settings for these workloads; names that the task does not have are errors with a suggestion.
  Expected<EvaluateRequest> request(const Task& task) const;
};

Status check_set(const Task& task, const std::string& set);

}  // namespace whet
