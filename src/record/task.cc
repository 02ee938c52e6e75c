// SPDX-License-Identifier: Apache-2.0
#include "record/task.h"

#include <algorithm>

namespace whet {

const Definition* Task::definition(std::string_view wanted) const {
  auto it = std::find_if(definitions.begin(), definitions.end(),
                         [&](const Definition& definition) { return definition.name == wanted; });
  return it == definitions.end() ? nullptr : &*it;
}

const Workload* Task::workload(std::string_view wanted) const {
  auto it = std::find_if(workloads.begin(), workloads.end(),
                         [&](const Workload& workload) { return workload.name == wanted; });
  return it == workloads.end() ? nullptr : &*it;
}

std::vector<const Workload*> Task::set(std::string_view wanted) const {
  std::vector<const Workload*> members;
  for (const Workload& workload : workloads)
    if (std::find(workload.sets.begin(), workload.sets.end(), wanted) != workload.sets.end())
      members.push_back(&workload);
  return members;
}

}  // namespace whet
