// SPDX-License-Identifier: Apache-2.0
// The trusted code on the device that looks at outputs: truth/measure/compare.h, digests, samples, red zones. Sums are taken in an order that
// depends on the number of blocks only, so that the same buffers give the same bits each time.
#include <stdint.h>

#include "truth/gpu/device_arguments.h"
#include "truth/gpu/device_numbers.cuh"

namespace whet::gpu {
namespace {

constexpr int kMostThreads = 256;  // of a block, in all of these

__device__ int64_t first_thread() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int64_t all_threads() { return (int64_t)gridDim.x * blockDim.x; }
__device__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

// The first of the worst.
__device__ void take_worse(double& bound, int64_t& index, double other_bound, int64_t other_index) {
  if (other_index < 0) return;
  if (index < 0 || other_bound > bound || (other_bound == bound && other_index < index)) bound = other_bound, index = other_index;
}

__device__ void merge(Part& a, const Part& b) {
  a.failing += b.failing;
  a.not_finite += b.not_finite;
  take_worse(a.worst_bound, a.worst_index, b.worst_bound, b.worst_index);
  a.worst_absolute = fmax(a.worst_absolute, b.worst_absolute);
  a.worst_relative = fmax(a.worst_relative, b.worst_relative);
  a.error_squares += b.error_squares;
}

__device__ void add(Magnitude& into, const Magnitude& from) {
  into.squares += from.squares;
  into.elements += from.elements;
}

// Combines the threads' values by a tree; thread 0 has the result.
template <class Value, class Combine>
__device__ void reduce_block(Value& mine, Combine combine) {
  __shared__ Value all[kMostThreads];
  all[threadIdx.x] = mine;
  __syncthreads();
  for (int half = (int)blockDim.x / 2; half > 0; half /= 2) {
    if ((int)threadIdx.x < half) combine(all[threadIdx.x], all[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) mine = all[0];
}

// Walk::element in truth/measure/compare.cc. Dividing in double precision is dear, so a division is only made where one in single precision, which is
// right within a thousandth, does not rule out that its result matters.
__device__ void measure(const CompareArguments& a, Part& part, double got, double want, int64_t i) {
  if (!isfinite(got) || !isfinite(want)) {
    if (a.match_special && ((isnan(got) && isnan(want)) || (isinf(got) && got == want))) return;
    if (!isfinite(got)) ++part.not_finite;
    ++part.failing;
    take_worse(part.worst_bound, part.worst_index, infinity(), i);
    part.error_squares = infinity();
    return;
  }
  const double error = fabs(got - want), size = fabs(want);
  if (error == 0) {
    if (part.worst_index < 0) part.worst_index = i;
    return;
  }
  const double bound = a.rtol * size + a.floor;
  part.worst_absolute = fmax(part.worst_absolute, error);
  part.error_squares += error * error;
  const float error_single = (float)error;
  if (size != 0 && !(error_single / (float)size * 1.001f < (float)part.worst_relative)) part.worst_relative = fmax(part.worst_relative, error / size);
  if (!(error_single / (float)bound * 1.001f < fminf((float)part.worst_bound, 1.0f))) {
    const double ratio = bound > 0 ? error / bound : infinity();
    if (ratio > 1) ++part.failing;
    if (part.worst_index < 0 || ratio > part.worst_bound) part.worst_bound = ratio, part.worst_index = i;
  }
}

template <int kFormat>
__device__ void compare_all(const CompareArguments& a, Part& part) {
  for (int64_t i = first_thread(); i < a.count; i += all_threads())
    measure(a, part, load_element(kFormat, a.got, i), kFormat == kFloat64 ? ((const double*)a.want)[i] : (double)((const float*)a.want)[i], i);
}

template <class Word>
__device__ bool same_bits(uint64_t a, uint64_t b, int64_t i) { return ((const Word*)a)[i] == ((const Word*)b)[i]; }
__device__ bool same_element(uint64_t a, uint64_t b, int64_t i, int width) {
  switch (width) {
    case 1: return same_bits<uint8_t>(a, b, i);
    case 2: return same_bits<uint16_t>(a, b, i);
    case 4: return same_bits<uint32_t>(a, b, i);
    default: return same_bits<uint64_t>(a, b, i);
  }
}

}  // namespace

extern "C" __global__ void whet_compare(CompareArguments a) {
  Part part = {};
  part.worst_index = -1;
  switch (a.format) {
    case kFloat64: compare_all<kFloat64>(a, part); break;
    case kFloat32: compare_all<kFloat32>(a, part); break;
    case kFloat16: compare_all<kFloat16>(a, part); break;
    case kBfloat16: compare_all<kBfloat16>(a, part); break;
    case kE4m3: compare_all<kE4m3>(a, part); break;
    case kE5m2: compare_all<kE5m2>(a, part); break;
    default: compare_all<kE2m1>(a, part); break;
  }
  reduce_block(part, [](Part& into, const Part& from) { merge(into, from); });
  if (threadIdx.x == 0) ((Part*)a.parts)[blockIdx.x] = part;
}

extern "C" __global__ void whet_compare_exact(CompareArguments a) {
  Part part = {};
  part.worst_index = -1;
  const int width = a.format == kInt64 ? 8 : a.format == kInt32 ? 4 : a.format == kInt16 ? 2 : 1;
  for (int64_t i = first_thread(); i < a.count; i += all_threads()) {
    const double got = load_element(a.format, a.got, i), want = load_element(a.format, a.want, i);
    if (a.format == kBool ? (got != 0) == (want != 0) : same_element(a.got, a.want, i, width)) continue;
    ++part.failing;
    part.worst_absolute = fmax(part.worst_absolute, fabs(got - want));
    take_worse(part.worst_bound, part.worst_index, infinity(), i);
  }
  reduce_block(part, [](Part& into, const Part& from) { merge(into, from); });
  if (threadIdx.x == 0) ((Part*)a.parts)[blockIdx.x] = part;
}

// One block: the parts in their order, then the two values at the worst place.
extern "C" __global__ void whet_compare_reduce(ReduceArguments a) {
  Part part = {};
  part.worst_index = -1;
  for (int64_t i = threadIdx.x; i < a.blocks; i += blockDim.x) merge(part, ((const Part*)a.compared.parts)[i]);
  reduce_block(part, [](Part& into, const Part& from) { merge(into, from); });
  if (threadIdx.x != 0) return;
  if (part.worst_index >= 0) {
    part.got = load_element(a.compared.format, a.compared.got, part.worst_index);
    part.want = load_element(a.compared.want_format, a.compared.want, part.worst_index);
  }
  *(Part*)a.result = part;
}

extern "C" __global__ void whet_magnitude(SumArguments a) {
  Magnitude sum = {0, 0};
  for (int64_t i = first_thread(); i < a.count; i += all_threads())
    if (const double value = load_element(a.format, a.data, i); isfinite(value) && value != 0) sum.squares += value * value, ++sum.elements;
  reduce_block(sum, [](Magnitude& into, const Magnitude& from) { add(into, from); });
  if (threadIdx.x == 0) ((Magnitude*)a.parts)[blockIdx.x] = sum;
}

// One block.
extern "C" __global__ void whet_magnitude_reduce(ReduceSumArguments a) {
  Magnitude sum = {0, 0};
  for (int64_t i = threadIdx.x; i < a.blocks; i += blockDim.x) add(sum, ((const Magnitude*)a.parts)[i]);
  reduce_block(sum, [](Magnitude& into, const Magnitude& from) { add(into, from); });
  if (threadIdx.x == 0) *(Magnitude*)a.result = sum;
}

extern "C" __global__ void whet_equal(SumArguments a) {
  uint64_t equal = 0;
  for (int64_t i = first_thread(); i < a.count; i += all_threads()) equal += same_element(a.data, a.other, i, a.width);
  reduce_block(equal, [](uint64_t& into, uint64_t from) { into += from; });
  if (threadIdx.x == 0) ((uint64_t*)a.parts)[blockIdx.x] = equal;
}

// `count` is in bytes.
extern "C" __global__ void whet_digest(SumArguments a) {
  uint64_t sum = 0;
  const int64_t words = a.count / 8;
  for (int64_t i = first_thread(); i < words; i += all_threads()) sum += mixed(((const uint64_t*)a.data)[i], (uint64_t)i);
  if (a.count % 8 != 0 && first_thread() == 0) {
    uint64_t last = 0;
    for (int64_t i = words * 8; i < a.count; ++i) last |= (uint64_t)((const uint8_t*)a.data)[i] << (8 * (i % 8));
    sum += mixed(last, (uint64_t)words);
  }
  reduce_block(sum, [](uint64_t& into, uint64_t from) { into += from; });
  if (threadIdx.x == 0) ((uint64_t*)a.parts)[blockIdx.x] = sum;
}

// One block.
extern "C" __global__ void whet_sum(ReduceSumArguments a) {
  uint64_t sum = 0;
  for (int64_t i = threadIdx.x; i < a.blocks; i += blockDim.x) sum += ((const uint64_t*)a.parts)[i];
  reduce_block(sum, [](uint64_t& into, uint64_t from) { into += from; });
  if (threadIdx.x == 0) *(uint64_t*)a.result = sum;
}

extern "C" __global__ void whet_convert(ConvertArguments a) {
  for (int64_t i = first_thread(); i < a.count; i += all_threads()) store_single(a.format, a.to, i, ((const float*)a.from)[i]);
}

// One block of at least 32 threads. runner::sample of each range in turn, the state carried on.
extern "C" __global__ void whet_sample(SampleArguments a) {
  __shared__ uint64_t words_seen[kSamplePlaces];
  uint64_t state = 0;
  for (int r = 0; r < a.count; ++r) {
    const uint64_t words = a.ranges[r].bytes / 8;
    if (threadIdx.x < kSamplePlaces && words > 0)
      words_seen[threadIdx.x] = ((const volatile uint64_t*)a.ranges[r].address)[sample_place(words, a.salt, threadIdx.x)];
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 0; i < kSamplePlaces && words > 0; ++i) state = sample_step(state, words_seen[i]);
      for (uint64_t i = 8 * words; i < a.ranges[r].bytes; ++i) state = sample_tail_step(state, ((const volatile uint8_t*)a.ranges[r].address)[i]);
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) *(volatile uint64_t*)a.result = state;
}

// Of each range, the least distance of a byte that is not 0xff from the tensor: from the range's end for the first half of the ranges, from its
// beginning for the others. 1 is the next byte. result[] holds UINT64_MAX before.
extern "C" __global__ void whet_red_zones(RangesArguments a) {
  const Range range = a.ranges[blockIdx.y];
  const bool before = (int)blockIdx.y < a.count / 2;
  uint64_t least = ~0ull;
  const uint64_t first_word = range.address / 8, words = range.bytes == 0 ? 0 : (range.address + range.bytes + 7) / 8 - first_word;
  for (uint64_t w = (uint64_t)first_thread(); w < words; w += (uint64_t)all_threads()) {
    const uint64_t at = (first_word + w) * 8;
    if (*(const uint64_t*)at == ~0ull) continue;
    for (uint64_t byte = at; byte < at + 8; ++byte) {
      if (byte < range.address || byte >= range.address + range.bytes || *(const uint8_t*)byte == 0xff) continue;
      const uint64_t distance = before ? range.address + range.bytes - byte : byte - range.address + 1;
      least = distance < least ? distance : least;
    }
  }
  if (least != ~0ull) atomicMin((unsigned long long*)a.result + blockIdx.y, least);
}

}  // namespace whet::gpu
