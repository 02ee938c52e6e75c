// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "face/cli/context.h"

namespace whet {

// The files of a task and where they came from, for messages.
struct TaskSource {
  std::string origin;                        // "tasks/mine", "attention-cpu (shipped)"
  std::string folder;                        // empty for a shipped task
  std::map<std::string, std::string> files;  // path below the task's folder -> contents
};

// TASK on the command line: a folder that holds a task.toml, else the name of a task in DATA/tasks, else that of a shipped one.
Expected<TaskSource> find_task(const std::string& argument, const std::string& data_folder, const Context& context);

struct TaskName {
  std::string name, origin;  // "shipped" or the folder
};
// What find_task() knows by name, sorted.
std::vector<TaskName> task_names(const std::string& data_folder, const Context& context);

// SOLUTION on the command line: a folder that holds a solution.json (then `files` is filled), else the name of one of the task's.
struct SolutionSource {
  std::string name;
  std::map<std::string, std::string> files;  // empty: the task's Solution of that name
};
Expected<SolutionSource> find_solution(const std::string& argument, const TaskSource& task);

}  // namespace whet
