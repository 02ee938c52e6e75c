// SPDX-License-Identifier: Apache-2.0
#include "face/cli/judge_options.h"

#include <algorithm>

#include "face/cli/suggest.h"

namespace whet {

void JudgeOptions::declare_set(Arguments& arguments) {
  arguments.text(set, "--set NAME", "a named set of the task's workloads (default full)");
}

void JudgeOptions::declare(Arguments& arguments) {
  declare_set(arguments);
  arguments.texts(workloads, "--workload NAME", "only this workload, whatever its sets; may be repeated");
  arguments.number(seconds, "--seconds N", "how long to measure each workload at most (default 1.5)", 0.05, 3600);
  arguments.integer(draws, "--draws N", "how many draws of inputs each workload gets at most (default 40)", 2, 100000);
  arguments.integer(hidden, "--hidden N", fmt::format("workloads drawn within the task's ranges, on which it must be right as well (default {})", kHiddenWorkloads), 0, kMostHidden);
}

Status check_set(const Task& task, const std::string& set) {
  if (task.sets.contains(set) || !task.set(set).empty()) return {};
  std::vector<std::string> names;
  for (const auto& [name, meaning] : task.sets) names.push_back(name);
  return bad_input("task {} has no set '{}'{}; it has {}", task.name, set, did_you_mean(set, names), listed(names));
}

Expected<EvaluateRequest> JudgeOptions::request(const Task& task) const {
  WHET_OK(check_set(task, set));
  std::vector<std::string> names;
  for (const Workload& workload : task.workloads) names.push_back(workload.name);
  for (const std::string& workload : workloads)
    if (!task.workload(workload))
      return bad_input("task {} has no workload '{}'{}; 'whet task show {}' lists them", task.name, workload, did_you_mean(workload, names), task.name);
  EvaluateRequest request;
  request.set = set;
  request.workloads = workloads;
  request.seconds_per_workload = seconds;
  request.hidden = hidden;
  request.max_draws = draws;
  request.min_draws = std::min(request.min_draws, draws);
  return request;
}

}  // namespace whet
