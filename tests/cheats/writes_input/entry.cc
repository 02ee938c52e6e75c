// SPDX-License-Identifier: Apache-2.0
// Would zero the input, so that whoever computes from it afterwards gets zeros too.
#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  compute(a);
  const_cast<float*>(a.v)[3] = 0;
  return 0;
}

WHET_TEST_SOLUTION(run)
