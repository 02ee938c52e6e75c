// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sandbox/runner_filter.h"
#include "truth/runner/solution_table.h"

namespace whet::runner {

// run_child() for a CUDA Solution: the process uses the one GPU that it sees. The judge's own device code is in its context, beside the Solution: what
// it reports is believed only as far as the worker's own clock and own comparison bear it out.
int run_cuda_child(SolutionTable& table, RunnerFilter filter = RunnerFilter::library);

}  // namespace whet::runner
