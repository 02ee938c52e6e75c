// SPDX-License-Identifier: Apache-2.0
//
// Warpgroup matrix products: descriptors of operands in shared memory, and what orders the asynchronous products.
//
// A product is asynchronous. Between its start and the wait that covers it, neither its accumulators nor its register operands may be touched;
// hold() on them after the wait keeps the compiler from moving a use ahead of it.
#pragma once

#include "ptx/wgmma_shapes.cuh"

namespace whet_kernels::ptx {

// Orders the registers written so far before the products that follow.
__device__ inline void products_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void products_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most kPending committed groups are still running.
template <int kPending>
__device__ inline void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

template <int kCount>
__device__ inline void hold(float (&values)[kCount]) {
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(values[i])::"memory");
}
template <int kRows, int kColumns>
__device__ inline void hold(uint32_t (&values)[kRows][kColumns]) {
#pragma unroll
  for (int i = 0; i < kRows; ++i)
#pragma unroll
    for (int j = 0; j < kColumns; ++j) asm volatile("" : "+r"(values[i][j])::"memory");
}

// Operands lie in blocks whose rows have kBytes bytes, as the copy engine swizzles them: eight rows are an atom, atoms follow one another. A block
// begins at a multiple of its atom.
template <int kBytes>
struct Swizzled {
  static_assert(kBytes == 128 || kBytes == 64);
  static constexpr uint32_t kRowBytes = kBytes, kAtomBytes = 8 * kBytes;
  static constexpr uint64_t kLayout = kBytes == 128 ? 1 : 2;

  // The summed index runs along rows of the block (Q, K): the next product is 32 bytes further.
  static __device__ inline uint64_t along_rows(uint32_t address) {
    return (kLayout << 62) | (static_cast<uint64_t>(kAtomBytes >> 4) << 32) | (uint64_t{1} << 16) | ((address & 0x3ffff) >> 4);
  }
  // The summed index runs across rows (V, 16 bits): the next product is two atoms further; `block_bytes` lead to the next columns.
  static __device__ inline uint64_t across_rows(uint32_t address, uint32_t block_bytes) {
    return (kLayout << 62) | (static_cast<uint64_t>(kAtomBytes >> 4) << 32) | (static_cast<uint64_t>(block_bytes >> 4) << 16) | ((address & 0x3ffff) >> 4);
  }

  // Where 16 bytes of a row are, for who fills a block without the copy engine.
  static __device__ inline uint32_t chunk(int row, int chunk) {
    return kBytes == 128 ? row * 128 + ((chunk ^ (row & 7)) << 4) : row * 64 + ((chunk ^ ((row >> 1) & 3)) << 4);
  }
};

}  // namespace whet_kernels::ptx
