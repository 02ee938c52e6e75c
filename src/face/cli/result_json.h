// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "record/evaluation.h"
#include "record/task.h"
#include "search/optimize.h"

namespace whet {

// What --json writes. The top level always has `scoreboard`, `evaluation` (its id in the ledger), `task`, `solution`, `verdict`, `seconds`; ARCHITECTURE.md lists
// what stands in the scoreboard. A candidate with device code has `kernels` and `advisories` too: what its compiler said, as in the ledger.
Json result_of(const Evaluation& evaluation, const std::string& ledger);

// The same for a run's end. The scoreboard is the champion's against the task's own baselines; `start` is its own key: {geomean: {value, low, high}}, champion
// over start, measured in the same judgement. Absent when the champion is the start.
Json result_of(const OptimizeResult& result, const Task& task, const std::string& ledger, const std::string& folder);

// The Evaluation without the trials of one baseline, scored anew: what it says against the others.
Evaluation without_baseline(const Evaluation& evaluation, const std::string& baseline, const Goal& goal);
// Against this baseline only; absent unless every workload is right and was run by both.
std::optional<Ratio> geomean_against(const Evaluation& evaluation, const std::string& baseline);

}  // namespace whet
