// SPDX-License-Identifier: Apache-2.0
// Kernels whose time is compared: one that only waits, one that moves bytes.
extern "C" __global__ void timed_spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {}
}

extern "C" __global__ void timed_copy(const uint4* from, uint4* to, long long count) {
  for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) to[i] = from[i];
}
