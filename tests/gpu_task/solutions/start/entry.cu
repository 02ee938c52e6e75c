// SPDX-License-Identifier: Apache-2.0
#include "operator.cuh"

static whet_int32 run(const WhetCall* call, void*) { return launch(read_args(call)); }

WHET_TEST_SOLUTION(run)
