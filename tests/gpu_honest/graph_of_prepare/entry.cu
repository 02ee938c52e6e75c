// SPDX-License-Identifier: Apache-2.0
// Plans a graph in prepare(): a memset and a kernel. run() puts the call's pointers into both nodes and launches it.
#include "operator.cuh"

struct State {
  cudaGraph_t graph;
  cudaGraphNode_t clear, kernel;
  cudaGraphExec_t exec;
  void* scratch;
};

static cudaKernelNodeParams node_of(Args& a, long& first, long& end, void* (&arguments)[3]) {
  arguments[0] = &a, arguments[1] = &first, arguments[2] = &end;
  cudaKernelNodeParams node = {};
  node.func = reinterpret_cast<void*>(norm_rows);
  node.gridDim = dim3(static_cast<unsigned>(a.rows)), node.blockDim = dim3(kThreads);
  node.kernelParams = arguments;
  return node;
}

static whet_int32 prepare(const WhetCall* call, void** state) {
  auto* s = new State{};
  *state = s;
  Args a = read_args(call);
  long first = 0, end = a.rows;
  void* arguments[3];
  const cudaKernelNodeParams node = node_of(a, first, end, arguments);
  cudaMalloc(&s->scratch, 256);
  cudaMemsetParams clear = {};
  clear.dst = s->scratch, clear.elementSize = 4, clear.width = 64, clear.height = 1;
  cudaGraphCreate(&s->graph, 0);
  cudaGraphAddMemsetNode(&s->clear, s->graph, nullptr, 0, &clear);
  cudaGraphAddKernelNode(&s->kernel, s->graph, &s->clear, 1, &node);
  if (const cudaError_t error = cudaGraphInstantiate(&s->exec, s->graph, 0)) return static_cast<whet_int32>(error);
  return static_cast<whet_int32>(cudaGraphUpload(s->exec, a.stream));
}

static whet_int32 run(const WhetCall* call, void* state) {
  auto* s = static_cast<State*>(state);
  Args a = read_args(call);
  long first = 0, end = a.rows;
  void* arguments[3];
  const cudaKernelNodeParams node = node_of(a, first, end, arguments);
  if (const cudaError_t error = cudaGraphExecKernelNodeSetParams(s->exec, s->kernel, &node)) return static_cast<whet_int32>(error);
  return static_cast<whet_int32>(cudaGraphLaunch(s->exec, a.stream));
}

static void destroy(void* state) {
  auto* s = static_cast<State*>(state);
  cudaGraphExecDestroy(s->exec), cudaGraphDestroy(s->graph), cudaFree(s->scratch);
  delete s;
}

WHET_TEST_TABLE(nullptr, prepare, run, destroy)
