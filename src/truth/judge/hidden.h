// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "record/task.h"

namespace whet {

// `count` workloads that no one has seen: axes, scalars and lengths drawn from the task's ranges, within the Definitions' constraints, the rest (recipes,
// and what has no range) from a drawn workload of the Definition. Page tables are drawn anew for the axes; that there is a page for every entry is a
// constraint of the Definition. Definitions take turns, in an order that the secret decides. The same secret gives the same workloads. Fewer, or none,
// where the task declares no ranges, or none for lengths that an input holds, or no draw kept the constraints: then `remarks` says so.
std::vector<Workload> hidden_workloads(const Task& task, const std::string& secret, int count, std::vector<std::string>& remarks);

// "attention_f32, batch 1, q_len 17, scale 0.09, causal true"; of lengths the first sixteen.
std::string describe_hidden(const Task& task, const Workload& workload);

}  // namespace whet
