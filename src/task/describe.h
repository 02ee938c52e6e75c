// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "record/task.h"

namespace whet {

// The task for a person: axes, inputs and outputs of each Definition, a table of the workloads (axes, family, sets, bytes of the tensors, the floor's
// operations and bytes), Solutions, ranges, goal. Plain text of about 120 columns.
std::string describe_task(const Task& task);

// "1.5 GiB", "12 KiB", "64 B".
std::string bytes_text(double bytes);
// The bytes of all tensors of a workload.
int64_t tensor_bytes(const Definition& definition, const Workload& workload);
// "batch 1, q_len 512", the variable axes in the Definition's order.
std::string axes_text(const Definition& definition, const Workload& workload);
// "scale 0.125, causal true", in the Definition's order; "" without scalars.
std::string scalars_text(const Definition& definition, const Workload& workload);
// "geomean_vs_fastest >= 1.3".
std::string goal_text(const Goal& goal);

}  // namespace whet
