// SPDX-License-Identifier: Apache-2.0
// y = 2 x for float32 vectors; each Definition another way to behave.
#include "whet/candidate.h"

namespace {

__global__ void scale(const float* x, float* y, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
}
__global__ void overwrite(float* x, long n) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) x[i] = 0;
}
__global__ void touch_far(float* y, long distance) { y[distance] = 1; }
__global__ void add_tickets(const float* x, float* y, long n, unsigned* tickets) {
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
  if (threadIdx.x == 0) atomicAdd(tickets, 1u);
}
__global__ void never_ends(volatile float* y) {
  while (y[0] != 12345.678f) y[1] = y[0];
}
__global__ void scale_slowly(const float* x, float* y, long n, long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) y[i] = 2 * x[i];
}

const float* x_of(const WhetCall* call) { return static_cast<const float*>(call->tensors[0].data); }
float* y_of(const WhetCall* call) { return static_cast<float*>(call->tensors[1].data); }
cudaStream_t stream_of(const WhetCall* call) { return static_cast<cudaStream_t>(call->stream); }
long size_of(const WhetCall* call) { return static_cast<long>(call->axes[0]); }

int launch_scale(const WhetCall* call) {
  if (call->tensors[0].device.type != WHET_DEVICE_CUDA) return 7;
  scale<<<256, 256, 0, stream_of(call)>>>(x_of(call), y_of(call), size_of(call));
  return static_cast<int>(cudaGetLastError());
}

whet_int32 run_honest(const WhetCall* call, void*) { return launch_scale(call); }

whet_int32 run_writes_input(const WhetCall* call, void*) {
  overwrite<<<1, 32, 0, stream_of(call)>>>(const_cast<float*>(x_of(call)), 32);
  return launch_scale(call);
}
// 1 GiB past the tensor: beyond the unmapped granule too, but nothing of ours is there.
whet_int32 run_out_of_bounds(const WhetCall* call, void*) {
  touch_far<<<1, 1, 0, stream_of(call)>>>(y_of(call), size_of(call) + (2l << 20) / 4);
  return launch_scale(call);
}
whet_int32 run_hangs(const WhetCall* call, void*) {
  never_ends<<<1, 1, 0, stream_of(call)>>>(y_of(call));
  return 0;
}
whet_int32 run_synchronises(const WhetCall* call, void*) {
  const int code = launch_scale(call);
  cudaStreamSynchronize(stream_of(call));
  return code;
}
// On a stream that nobody waits for.
whet_int32 run_late(const WhetCall* call, void* state) {
  scale_slowly<<<256, 256, 0, static_cast<cudaStream_t>(state)>>>(x_of(call), y_of(call), size_of(call), 20000000ll);
  return static_cast<int>(cudaGetLastError());
}
whet_int32 prepare_late(const WhetCall*, void** state) {
  cudaStream_t stream;
  const int code = static_cast<int>(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  *state = stream;
  return code;
}
whet_int32 run_persists(const WhetCall* call, void*) {
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 8 << 20);
  return launch_scale(call);
}
whet_int32 run_with_workspace(const WhetCall* call, void*) {
  add_tickets<<<256, 256, 0, stream_of(call)>>>(x_of(call), y_of(call), size_of(call), static_cast<unsigned*>(call->workspace));
  return static_cast<int>(cudaGetLastError());
}
whet_int32 bytes_of_workspace(const WhetCall*, whet_uint64* bytes) {
  *bytes = 4096;
  return 0;
}

const WhetEntry kEntries[] = {{"honest", nullptr, nullptr, run_honest, nullptr},
                              {"writes_input", nullptr, nullptr, run_writes_input, nullptr},
                              {"out_of_bounds", nullptr, nullptr, run_out_of_bounds, nullptr},
                              {"hangs", nullptr, nullptr, run_hangs, nullptr},
                              {"synchronises", nullptr, nullptr, run_synchronises, nullptr},
                              {"late", nullptr, prepare_late, run_late, nullptr},
                              {"persists", nullptr, nullptr, run_persists, nullptr},
                              {"with_workspace", bytes_of_workspace, nullptr, run_with_workspace, nullptr}};
const WhetSolution kSolution = {WHET_ABI_VERSION, 8, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
