// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "record/evaluation.h"
#include "report/table.h"

namespace whet {

enum class Holding { holds, does_not_hold, not_enough_evidence };
std::string_view name_of(Holding holding);

struct Comparison {
  Holding holding = Holding::holds;
  std::vector<std::string> reasons;  // a sentence each
};

// Whether the claim of an old Evaluation is borne out by a fresh one of the same Solution on the same task. It holds if every workload's Verdict is still
// right or still not, and the geomean's intervals meet, both widened by both noise floors: what differs between sessions on this machine anyway is
// no contradiction. Without a geomean on both sides the workloads' ratios are compared, and more than one in twenty (at least one) must lie
// apart to contradict. Not enough evidence: another task version or Solution, a machine that failed, workloads that were not run, or nothing timed.
Comparison compare_evaluations(const Evaluation& old, const Evaluation& fresh);

// Both side by side: what holds and why, the geomeans, and the workloads whose Verdict or ratio changed.
std::string comparison_text(const Evaluation& old, const Evaluation& fresh, const ReportStyle& style);

}  // namespace whet
