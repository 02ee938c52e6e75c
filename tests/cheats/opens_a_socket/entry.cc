// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>

#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  socket(AF_INET, SOCK_STREAM, 0);
  return 0;
}

WHET_TEST_SOLUTION(run)
