// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/evaluation.h"
#include "record/scoreboard.h"
#include "record/task.h"

namespace whet {

// Summarises the candidate's flushed times against every baseline. Deterministic: the same Evaluation gives the same intervals.
Scoreboard score(const Evaluation& evaluation, const Goal& goal);

}  // namespace whet
