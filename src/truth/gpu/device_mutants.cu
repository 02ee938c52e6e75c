// SPDX-License-Identifier: Apache-2.0
// The trusted code on the device that makes wrong contents from right ones: truth/measure/mutation.h, bit by bit.
#include <stdint.h>

#include "truth/gpu/device_arguments.h"
#include "truth/gpu/device_numbers.cuh"

namespace whet::gpu {
namespace {

__device__ int64_t first_thread() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int64_t all_threads() { return (int64_t)gridDim.x * blockDim.x; }

// Extents are in words.
template <class Word>
__device__ void zero_runs(const TailArguments& a) {
  Word* data = (Word*)a.data;
  const Word zero = {};
  for (int64_t i = first_thread(); i < a.runs * a.words; i += all_threads()) data[a.first + i / a.words * a.stride + i % a.words] = zero;
}

template <class Word>
__device__ void repeat_words(const RepeatArguments& a) {
  for (int64_t i = first_thread(); i < a.words; i += all_threads()) ((Word*)a.to)[i] = ((const Word*)a.from)[i % a.period];
}

template <int kFormat>
__device__ void round_all(const RoundArguments& a) {
  for (int64_t i = first_thread(); i < a.count; i += all_threads()) {
    const float value = (float)load_element(kFormat, a.data, i);
    if constexpr (kFormat == kFloat64) store_element(kFormat, a.data, i, value);
    else store_single(kFormat, a.data, i, __uint_as_float(rounded_mantissa(__float_as_uint(value), a.kept)));
  }
}

template <int kFormat>
__device__ double sum_of_lane(const SumArguments& a, int64_t lane) {
  double sum = 0;
#pragma unroll 8
  for (int64_t i = lane; i < a.count; i += kMeanLanes) sum += load_element(kFormat, a.data, i);
  return sum;
}

}  // namespace

extern "C" __global__ void whet_zero_tail(TailArguments a) {
  switch (a.width) {
    case 16: zero_runs<uint4>(a); break;
    case 8: zero_runs<uint64_t>(a); break;
    case 4: zero_runs<uint32_t>(a); break;
    case 2: zero_runs<uint16_t>(a); break;
    default: zero_runs<uint8_t>(a); break;
  }
}

extern "C" __global__ void whet_repeat(RepeatArguments a) {
  switch (a.width) {
    case 16: repeat_words<uint4>(a); break;
    case 8: repeat_words<uint64_t>(a); break;
    case 4: repeat_words<uint32_t>(a); break;
    case 2: repeat_words<uint16_t>(a); break;
    default: repeat_words<uint8_t>(a); break;
  }
}

extern "C" __global__ void whet_round_down(RoundArguments a) {
  switch (a.format) {
    case kFloat64: round_all<kFloat64>(a); break;
    case kFloat32: round_all<kFloat32>(a); break;
    case kFloat16: round_all<kFloat16>(a); break;
    case kBfloat16: round_all<kBfloat16>(a); break;
    case kE4m3: round_all<kE4m3>(a); break;
    default: round_all<kE5m2>(a); break;
  }
}

// kMeanLanes threads, each of which has one lane.
extern "C" __global__ void whet_lane_sums(SumArguments a) {
  const int64_t lane = first_thread();
  double sum = 0;
  switch (a.format) {
    case kFloat64: sum = sum_of_lane<kFloat64>(a, lane); break;
    case kFloat32: sum = sum_of_lane<kFloat32>(a, lane); break;
    case kFloat16: sum = sum_of_lane<kFloat16>(a, lane); break;
    case kBfloat16: sum = sum_of_lane<kBfloat16>(a, lane); break;
    case kE4m3: sum = sum_of_lane<kE4m3>(a, lane); break;
    case kE5m2: sum = sum_of_lane<kE5m2>(a, lane); break;
    default:
      for (int64_t i = lane; i < a.count; i += kMeanLanes) sum += load_element(a.format, a.data, i);
  }
  ((double*)a.parts)[lane] = sum;
}

// One block.
extern "C" __global__ void whet_lanes_reduce(ReduceSumArguments a) {
  double* lanes = (double*)a.parts;
  for (int64_t half = kMeanLanes / 2; half > 0; half /= 2) {
    for (int64_t lane = threadIdx.x; lane < half; lane += blockDim.x) lanes[lane] += lanes[lane + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *(double*)a.result = lanes[0];
}

}  // namespace whet::gpu
