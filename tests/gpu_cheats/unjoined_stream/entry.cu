// SPDX-License-Identifier: Apache-2.0
// Works on a stream of its own that nobody waits for: between the two events on the call's stream there is nothing.
#include "operator.cuh"

static whet_int32 prepare(const WhetCall*, void** state) {
  cudaStream_t side;
  const int code = static_cast<int>(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  *state = side;
  return code;
}

static whet_int32 run(const WhetCall* call, void* state) {
  const Args a = read_args(call);
  return launch_rows(a, 0, a.rows, static_cast<cudaStream_t>(state));
}

static void destroy(void* state) { cudaStreamDestroy(static_cast<cudaStream_t>(state)); }

WHET_TEST_TABLE(nullptr, prepare, run, destroy)
