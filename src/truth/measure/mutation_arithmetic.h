// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// The arithmetic of wrong contents (mutation.h), computed alike by the CPU and by the judge's code on a device. Compiled by nvcc as C++20 too, so only C
// headers here.
#ifndef WHET_BOTH
#ifdef __CUDACC__
#define WHET_BOTH __host__ __device__ inline
#else
#define WHET_BOTH inline
#endif
#endif

namespace whet {

// Indices of the tail of an axis.
WHET_BOTH int64_t tail_of(int64_t extent) { return extent / 16 > 1 ? extent / 16 : 1; }

// The bits of a float32 whose mantissa is rounded to `kept` bits (1 to 22): nearest, ties to even. Infinities and NaN stay as they are.
WHET_BOTH uint32_t rounded_mantissa(uint32_t bits, int kept) {
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
  const int dropped = 23 - kept;
  bits += (1u << (dropped - 1)) - 1u + ((bits >> dropped) & 1u);
  return bits & ~((1u << dropped) - 1u);
}

// A mean has the same bits wherever it is computed: lane j sums the elements j, j + kMeanLanes, ... one after the other; then the upper half of the
// lanes is added to the lower half until one is left.
constexpr int64_t kMeanLanes = 1 << 14;

}  // namespace whet
