// SPDX-License-Identifier: Apache-2.0
// Half of the rows on a stream of its own, forked from the call's stream and joined with it by events.
#include "operator.cuh"

struct State {
  cudaStream_t side;
  cudaEvent_t forked, joined;
};

static whet_int32 prepare(const WhetCall*, void** state) {
  auto* s = new State{};
  *state = s;
  cudaStreamCreateWithFlags(&s->side, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&s->forked, cudaEventDisableTiming);
  return static_cast<whet_int32>(cudaEventCreateWithFlags(&s->joined, cudaEventDisableTiming));
}

static whet_int32 run(const WhetCall* call, void* state) {
  const Args a = read_args(call);
  auto* s = static_cast<State*>(state);
  cudaEventRecord(s->forked, a.stream);
  cudaStreamWaitEvent(s->side, s->forked, 0);
  const int first = launch_rows(a, 0, a.rows / 2, s->side), second = launch_rows(a, a.rows / 2, a.rows, a.stream);
  cudaEventRecord(s->joined, s->side);
  cudaStreamWaitEvent(a.stream, s->joined, 0);
  return first ? first : second;
}

static void destroy(void* state) {
  auto* s = static_cast<State*>(state);
  cudaStreamDestroy(s->side);
  cudaEventDestroy(s->forked), cudaEventDestroy(s->joined);
  delete s;
}

WHET_TEST_TABLE(nullptr, prepare, run, destroy)
