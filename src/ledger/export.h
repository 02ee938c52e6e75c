// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/json.h"
#include "record/evaluation.h"

namespace whet {

// One row per sample, discarded ones too (RFC 4180, a header line first): evaluation, task, solution_judged, workload, family, solution, role, verdict,
// column, draw, position, ns, discarded.
std::string csv_header();
std::string csv_rows(const Evaluation& evaluation);

// FlashInfer Trace: one line of JSON per workload and Solution that was run, {definition, workload, solution, evaluation}. What their format has no
// place for (cold and resident times, intervals, hashes) stands under the key `whet`, which their tools ignore; samples are left to our own JSON.
// `workloads`: by name, the workload as FlashInfer Trace has it ({uuid, axes, inputs}); one that is not there gets its name as uuid and
// empty axes and inputs.
std::string trace_lines(const Evaluation& evaluation, const std::map<std::string, Json>& workloads);

}  // namespace whet
