// SPDX-License-Identifier: Apache-2.0
// Two kernels: sums by clusters of two blocks, then rows that are scaled; the second is launched early and waits for the first on the device (programmatic
// dependent launch). Before compute capability 9.0 neither exists, and it is an ordinary pair.
#include <cooperative_groups.h>

#include "operator.cuh"

static __global__ void factors_by_cluster(Args a, float* factors) {
  const long row = blockIdx.x / 2;
  const long long count = a.count[row];
  float part = 0;
  for (long i = long{blockIdx.x % 2} * kThreads + threadIdx.x; i < count; i += 2 * kThreads) part += a.x[row * a.dim + i] * a.x[row * a.dim + i];
  __shared__ float sum;
  const float mine = sum_of_block(part);
  if (threadIdx.x == 0) sum = mine;
#if __CUDA_ARCH__ >= 900
  const auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  const float both = sum + *cluster.map_shared_rank(&sum, cluster.block_rank() ^ 1);
  cluster.sync();  // nobody leaves while its shared memory is read
  if (blockIdx.x % 2 == 0 && threadIdx.x == 0) factors[row] = count > 0 ? a.scale / sqrtf(both / static_cast<float>(count) + 0.01f) : 0.0f;
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

static __global__ void apply(Args a, const float* factors) {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  const long row = blockIdx.x;
  for (long i = threadIdx.x; i < a.dim; i += kThreads) a.o[row * a.dim + i] = factors[row] * a.x[row * a.dim + i] * a.w[i];
}

static whet_int32 workspace_bytes(const WhetCall* call, whet_uint64* bytes) {
  *bytes = static_cast<whet_uint64>(call->axes[0]) * 4;
  return 0;
}

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  auto* factors = static_cast<float*>(call->workspace);
  cudaLaunchAttribute attribute[1] = {};
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2, attribute[0].val.clusterDim.y = 1, attribute[0].val.clusterDim.z = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(2 * a.rows)), config.blockDim = dim3(kThreads), config.stream = a.stream;
  config.attrs = attribute, config.numAttrs = 1;
  if (const cudaError_t error = cudaLaunchKernelEx(&config, factors_by_cluster, a, factors)) return static_cast<whet_int32>(error);
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val = {};
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = dim3(static_cast<unsigned>(a.rows));
  return static_cast<whet_int32>(cudaLaunchKernelEx(&config, apply, a, static_cast<const float*>(factors)));
}

WHET_TEST_TABLE(workspace_bytes, nullptr, run, nullptr)
