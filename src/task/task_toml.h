// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "record/task.h"

namespace whet {

// What task.toml says, before anything that it names has been looked up.
struct TaskToml {
  Task task;                             // all but definitions, workloads and solutions
  std::vector<std::string> definitions;  // names
  std::string file;
  std::map<std::string, int> lines;  // "goal.metric" -> line
  // "task.toml:12: goal.metric", for complaints about a value.
  std::string at(const std::string& key) const;
};

// Reads the text; complaints like "task.toml:12: goal.value: expected a number > 0, found \"fast\"". An unknown key is one.
TaskToml task_toml_from_text(std::string_view text, const std::string& file, std::vector<std::string>& complaints);

}  // namespace whet
