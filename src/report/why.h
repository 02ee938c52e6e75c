// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "record/evaluation.h"

namespace whet {

// What the measurements say about why a workload's ratio is what it is: who wins by how much, the distance from the physical floor, what
// changes with resident inputs, what the first call costs, how the samples scatter. One phrase each; only what stands out is said.
std::vector<std::string> why_it_stands_there(const WorkloadResult& result, const ScoredWorkload& scored);

}  // namespace whet
