// SPDX-License-Identifier: Apache-2.0
#include "fuzzed.h"
#include "task/brief.h"
#include "task/describe.h"
#include "task/load.h"
#include "task/new_task.h"

using namespace whet;

// The input is task.toml of an otherwise right folder.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  static const TaskFiles kFolder = *new_task("vectors");
  TaskFiles files = kFolder;
  files["task.toml"] = std::string(text_of(data, size));
  const TaskReport report = read_task(files, "");
  must(report.task.has_value() == report.complaints.empty(), "a task has no complaint, a complaint no task");
  must(task_hash(files).size() == 64, "every folder has a hash");
  if (!report.task) return 0;
  must(!describe_task(*report.task).empty() && !cut_brief(*report.task).text().empty(), "a task can be shown");
  return 0;
}
