// SPDX-License-Identifier: Apache-2.0
//
// Bulk tensor copies (TMA) of boxes of up to five dimensions into shared memory.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace whet_kernels::ptx {

__device__ inline void prefetch_map(const CUtensorMap* map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

// The box at these coordinates, innermost first, to `to`; the whole box's bytes are reported to `barrier`, those outside of the tensor as zeros.
__device__ inline void load_box(uint32_t to, const CUtensorMap* map, uint32_t barrier, int c0, int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(to), "l"(map), "r"(barrier),
      "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

}  // namespace whet_kernels::ptx
