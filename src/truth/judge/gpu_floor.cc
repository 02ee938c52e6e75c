// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/gpu_floor.h"

#include <algorithm>

namespace whet {
namespace {

// Dense operations per clock and multiprocessor of the widest unit that takes this dtype. Compute capability 8.0 and 9.0 by NVIDIA's architecture white
// papers (A100: 2048 in 16 bits; H100: 4096); later ones are taken as twice the 9.0, so that a floor is rather too low.
double flops_per_clock(const GpuFacts& gpu, Dtype dtype) {
  const double sixteen = gpu.compute_major < 8 ? 1024 : gpu.compute_major == 8 ? 2048 : gpu.compute_major == 9 ? 4096 : 8192;
  switch (size_of(dtype)) {
    case 1: return 2 * sixteen;
    case 2: return sixteen;
    case 4: return sixteen / 2;  // as tf32, whether or not a workload's tolerance allows it
    default: return 256;
  }
}

}  // namespace

double gpu_floor_ns(const GpuFacts& gpu, double bytes, double flops, Dtype dtype) {
  const double bytes_per_ns = 2.0 * gpu.memory_clock_mhz * 1e-3 * gpu.memory_bus_bits / 8;  // two transfers a clock
  const double flops_per_ns = flops_per_clock(gpu, dtype) * gpu.multiprocessors * gpu.clock_mhz * 1e-3;
  if (bytes_per_ns <= 0 || flops_per_ns <= 0) return 0;
  return std::max(bytes / bytes_per_ns, flops / flops_per_ns);
}

}  // namespace whet
