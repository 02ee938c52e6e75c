// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "task/task_toml.h"

namespace whet {

// Checks task.ranges against the Definitions, all of which have been read, and fills in the steps that were left out.
void check_ranges(const TaskToml& toml, Task& task, std::vector<std::string>& complaints);

}  // namespace whet
