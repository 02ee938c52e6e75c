// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sandbox/runner_filter.h"
#include "truth/runner/solution_table.h"

namespace whet::runner {

// The program inside the jail: loads one Solution and makes the calls that the worker asks for over kSocket, until that socket closes. `filter` is entered before it is loaded.
// Knows buffers, no answers, no Task. Returns the exit code of the process.
int run_child(SolutionTable& table, RunnerFilter filter = RunnerFilter::library);

}  // namespace whet::runner
