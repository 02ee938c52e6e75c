// SPDX-License-Identifier: Apache-2.0
// Rows in two parts whose sums meet in the workspace; tickets there, zeroed before prepare(), are put back by whoever comes last, for the next run.
#include "operator.cuh"

constexpr int kParts = 2;

static __global__ void sum_parts(Args a, float* sums, unsigned* tickets, float* factors) {
  const long row = blockIdx.x;
  const long long count = a.count[row];
  float part = 0;
  for (long i = long{blockIdx.y} * kThreads + threadIdx.x; i < count; i += long{kParts} * kThreads) part += a.x[row * a.dim + i] * a.x[row * a.dim + i];
  const float sum = sum_of_block(part);
  if (threadIdx.x != 0) return;
  sums[row * kParts + blockIdx.y] = sum;
  __threadfence();
  if (atomicAdd(&tickets[row], 1u) != kParts - 1) return;
  tickets[row] = 0;
  __threadfence();
  float all = 0;
  for (int i = 0; i < kParts; ++i) all += static_cast<volatile float*>(sums)[row * kParts + i];
  factors[row] = count > 0 ? a.scale / sqrtf(all / static_cast<float>(count) + 0.01f) : 0.0f;
}

static __global__ void apply(Args a, const float* factors) {
  const long row = blockIdx.x;
  for (long i = threadIdx.x; i < a.dim; i += kThreads) a.o[row * a.dim + i] = factors[row] * a.x[row * a.dim + i] * a.w[i];
}

static whet_int32 workspace_bytes(const WhetCall* call, whet_uint64* bytes) {
  *bytes = static_cast<whet_uint64>(call->axes[0]) * (kParts + 2) * 4;
  return 0;
}

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  auto* sums = static_cast<float*>(call->workspace);
  float* factors = sums + a.rows * kParts;
  auto* tickets = reinterpret_cast<unsigned*>(factors + a.rows);
  sum_parts<<<dim3(static_cast<unsigned>(a.rows), kParts), kThreads, 0, a.stream>>>(a, sums, tickets, factors);
  apply<<<static_cast<unsigned>(a.rows), kThreads, 0, a.stream>>>(a, factors);
  return static_cast<whet_int32>(cudaGetLastError());
}

WHET_TEST_TABLE(workspace_bytes, nullptr, run, nullptr)
