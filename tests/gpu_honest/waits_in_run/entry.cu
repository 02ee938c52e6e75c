// SPDX-License-Identifier: Apache-2.0
// Waits for its own work within run(), as a library that reads a result back may have to: allowed, and timed from end to end.
#include "operator.cuh"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  const int code = launch(a);
  return code ? code : static_cast<whet_int32>(cudaStreamSynchronize(a.stream));
}

WHET_TEST_SOLUTION(run)
