// SPDX-License-Identifier: Apache-2.0
// Captures its first call into a graph and launches that ever after: it reads where the first call's inputs were.
#include "operator.cuh"

struct State {
  cudaStream_t stream;
  cudaGraphExec_t graph;
};

static whet_int32 prepare(const WhetCall*, void** state) {
  auto* made = new State{};
  *state = made;
  return static_cast<whet_int32>(cudaStreamCreateWithFlags(&made->stream, cudaStreamNonBlocking));
}

static whet_int32 run(const WhetCall* call, void* state) {
  Args a = read_args(call);
  auto* s = static_cast<State*>(state);
  if (!s->graph) {
    cudaGraph_t graph;
    cudaStreamBeginCapture(s->stream, cudaStreamCaptureModeRelaxed);
    launch_rows(a, 0, a.rows, s->stream);
    if (const cudaError_t error = cudaStreamEndCapture(s->stream, &graph)) return static_cast<whet_int32>(error);
    if (const cudaError_t error = cudaGraphInstantiate(&s->graph, graph, 0)) return static_cast<whet_int32>(error);
    cudaGraphDestroy(graph);
  }
  return static_cast<whet_int32>(cudaGraphLaunch(s->graph, a.stream));
}

static void destroy(void* state) {
  auto* s = static_cast<State*>(state);
  if (s->graph) cudaGraphExecDestroy(s->graph);
  cudaStreamDestroy(s->stream);
  delete s;
}

WHET_TEST_TABLE(nullptr, prepare, run, destroy)
