// SPDX-License-Identifier: Apache-2.0
#include "operator.cuh"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  return static_cast<whet_int32>(cudaMemsetAsync(a.o, 0, a.bytes(), a.stream));
}

WHET_TEST_SOLUTION(run)
