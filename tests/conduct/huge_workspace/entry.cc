// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

static whet_int32 workspace_bytes(const WhetCall*, whet_uint64* bytes) {
  *bytes = whet_uint64{1} << 40;
  return 0;
}

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  return 0;
}

WHET_TEST_TABLE(workspace_bytes, nullptr, run, nullptr)
