// SPDX-License-Identifier: Apache-2.0
// The trusted code on the device: draws inputs, and all that surrounds a timed call. Launched through the driver API (device_work.cc). Compiled with
// --fmad=false: what the CPU computes without contraction has the same bits here.
#include <stdint.h>

#include "truth/gpu/device_arguments.h"
#include "truth/gpu/device_numbers.cuh"

namespace whet::gpu {
namespace {

__device__ int64_t first_thread() { return (int64_t)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int64_t all_threads() { return (int64_t)gridDim.x * blockDim.x; }

__device__ uint64_t global_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}
// Its next value, as soon as it is reached.
__device__ uint64_t next_step() {
  const uint64_t now = global_ns();
  uint64_t next;
  do {
    next = global_ns();
  } while (next == now);
  return next;
}

// Eight neighbours at once where they are whole and aligned.
template <class Stored>
__device__ void write_eight(Stored* data, bool aligned, int64_t at, int64_t begin, int64_t end, const Stored (&values)[8]) {
  if (aligned && at >= begin && at + 8 <= end) {
    if constexpr (sizeof(Stored) == 1) *(uint2*)(data + at) = *(const uint2*)values;
    if constexpr (sizeof(Stored) == 2) *(uint4*)(data + at) = *(const uint4*)values;
    if constexpr (sizeof(Stored) == 4) {
      *(uint4*)(data + at) = ((const uint4*)values)[0];
      *(uint4*)(data + at + 4) = ((const uint4*)values)[1];
    }
    return;
  }
  for (int i = 0; i < 8; ++i)
    if (at + i >= begin && at + i < end) data[at + i] = values[i];
}

// As fill_normal in truth/measure/draw.cc: tiles of 1024 elements take 512 counters; the high half of each word serves the first 512 elements, the
// low half the others.
template <class Stored>
__device__ void generate_normal(const NormalArguments& a) {
  __shared__ Stored table[kQuantiles];
  for (int i = (int)threadIdx.x; i < kQuantiles; i += (int)blockDim.x) table[i] = (Stored)((const uint32_t*)a.table)[i];
  __syncthreads();
  Stored* data = (Stored*)a.data;
  const bool aligned = a.data % 16 == 0;
  const int64_t first_tile = a.begin / 1024, units = ((a.end + 1023) / 1024 - first_tile) * 64;
  for (int64_t unit = first_thread(); unit < units; unit += all_threads()) {
    const int64_t tile = first_tile + unit / 64;
    const uint32_t lane = (uint32_t)(unit % 64) * 8;
    const uint64_t counter = (uint64_t)tile * 512;
    alignas(16) Stored upper[8];
    alignas(16) Stored lower[8];
#pragma unroll
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t word = random_word(a.key, (uint32_t)counter + lane + i, (uint32_t)(counter >> 32));
      upper[i] = table[word >> 20];
      lower[i] = table[(word >> 4) & (kQuantiles - 1)];
    }
    write_eight(data, aligned, tile * 1024 + lane, a.begin, a.end, upper);
    write_eight(data, aligned, tile * 1024 + 512 + lane, a.begin, a.end, lower);
  }
}

__device__ void store_bits(uint64_t data, int64_t i, int width, uint64_t bits) {
  if (width == 1) ((uint8_t*)data)[i] = (uint8_t)bits;
  if (width == 2) ((uint16_t*)data)[i] = (uint16_t)bits;
  if (width == 4) ((uint32_t*)data)[i] = (uint32_t)bits;
  if (width == 8) ((uint64_t*)data)[i] = bits;
}

}  // namespace

extern "C" __global__ void whet_normal_1(NormalArguments a) { generate_normal<uint8_t>(a); }
extern "C" __global__ void whet_normal_2(NormalArguments a) { generate_normal<uint16_t>(a); }
extern "C" __global__ void whet_normal_4(NormalArguments a) { generate_normal<uint32_t>(a); }
extern "C" __global__ void whet_normal_8(NormalArguments a) {
  for (int64_t i = a.begin + first_thread(); i < a.end; i += all_threads()) ((uint64_t*)a.data)[i] = ((const uint64_t*)a.table)[word_at(a.key, i, 0) >> 20];
}

extern "C" __global__ void whet_elements(ElementArguments a) {
  for (int64_t i = a.begin + first_thread(); i < a.end; i += all_threads()) {
    const uint32_t bits = word_at(a.key, i, 0);
    double value;
    if (a.is_index) {
      value = (double)scaled_below(bits, a.bound);
    } else {
      value = a.low + a.span * ((bits + 0.5) / 4294967296.0);
      if (a.is_integer) value = floor(value);
    }
    store_element(a.format, a.data, i, value);
  }
}

// A row's peaks in their order, by one thread: a later one may fall on an earlier one.
extern "C" __global__ void whet_plant(PlantArguments a) {
  for (int64_t row = a.begin / a.row + first_thread(); row * a.row < a.end; row += all_threads())
    for (int64_t peak = 0; peak < a.peaks; ++peak) {
      const uint32_t bits = word_at(a.key, row, (uint32_t)peak + 1);
      const int64_t index = row * a.row + (int64_t)scaled_below(bits, (uint64_t)a.row);
      if (index >= a.begin && index < a.end) store_bits(a.data, index, a.width, bits & 1 ? a.plus : a.minus);
    }
}

extern "C" __global__ void whet_fill(FillArguments a) {
  for (int64_t i = a.begin + first_thread(); i < a.end; i += all_threads()) store_bits(a.data, i, a.width, a.bits);
}

// Reads and writes a region that is larger than the last cache, so that nothing else is left in it.
extern "C" __global__ void whet_flush(FlushArguments a) {
  uint4* data = (uint4*)a.data;
  for (int64_t i = first_thread(); i < a.count; i += all_threads()) {
    uint4 value = data[i];
    value.x += 1;
    data[i] = value;
  }
}

// Reads ranges once, so that they are where a read brings them. The sum is written only if it has one value of 2^64, which keeps the reads.
extern "C" __global__ void whet_touch(RangesArguments a) {
  const Range range = a.ranges[blockIdx.y];
  uint64_t sum = 0;
  const int64_t words = (int64_t)(range.bytes / 8);
  for (int64_t i = first_thread(); i < words; i += all_threads()) sum += ((const volatile uint64_t*)range.address)[i];
  if (sum == 0x5bf0363546a3cb1du) *(volatile uint64_t*)a.result = sum;
}

// Keeps the stream's later work waiting until the host has submitted all of it.
extern "C" __global__ void whet_block(BlockArguments a) {
  volatile BlockWord* word = (volatile BlockWord*)a.word;
  word->begun = a.sequence;
  // The global timer goes in steps, of a microsecond on some devices: from a step to a step, the clock of the multiprocessor is known to a few cycles.
  const uint64_t begin = next_step();
  const long long clock = clock64();
  uint64_t now = begin;
  // Long enough for the clock to be known from it, also where the call was submitted before this ran.
  while (word->release != a.sequence || now - begin < kClockNs) {
    now = global_ns();
    if (now - begin > a.limit_ns) {
      word->gave_up = a.sequence;
      break;
    }
  }
  const uint64_t end = next_step();
  word->clocks = (uint64_t)(clock64() - clock);
  word->ns = end - begin;
  __threadfence_system();
}

// Launched like a Solution's kernel and does nothing: what an empty pair of events measures.
extern "C" __global__ void whet_empty() {}

}  // namespace whet::gpu
