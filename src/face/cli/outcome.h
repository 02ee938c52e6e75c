// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "face/cli/context.h"
#include "record/evaluation.h"
#include "report/table.h"

namespace whet {

// 0 goal met, 1 judged and short of the goal, 2 when the Verdict is about the task, 3 about the machine.
int exit_code_of(const Evaluation& evaluation);

// How reports look on this terminal.
ReportStyle style_of(const Context& context, bool columns);
// report's text of a judgement, fit for this terminal.
std::string show_evaluation(const Evaluation& evaluation, const Context& context, bool columns);

}  // namespace whet
