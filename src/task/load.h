// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/task.h"

namespace whet {

// A task's folder in memory: path below it -> contents.
using TaskFiles = std::map<std::string, std::string>;

struct TaskReport {
  std::optional<Task> task;             // absent when there is a complaint
  std::vector<std::string> complaints;  // each names file, line or key, what was expected and what was found
  std::vector<std::string> warnings;    // likewise; nothing that stops a judgement
};

// Reads and checks all of a task: task.toml, definitions/**.json, workloads/**.jsonl, solutions/NAME/**, and the safetensors that workloads
// name. `where` is put in front of the files' names ("" for none).
TaskReport read_task(const TaskFiles& files, const std::string& where);

// The same for who only wants the task: the error holds all complaints, one a line.
Expected<Task> load_task(const TaskFiles& files, const std::string& where);

// The content address of what decides Verdicts and times of a task: every file except the start Solution, Solutions that task.toml does not
// name, and text for people (README*, *.md, LICENSE*). So editing `start` or a note keeps old Evaluations comparable; a workload, a tolerance or a
// baseline does not. Files that cannot be read as a task are hashed whole.
std::string task_hash(const TaskFiles& files);

// The files of solutions/NAME/, with paths below that folder.
std::map<std::string, std::string> solution_files(const TaskFiles& files, const std::string& name);

}  // namespace whet
