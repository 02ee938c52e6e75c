// SPDX-License-Identifier: Apache-2.0
//
// The converter: three warps beside the producer's that widen e4m3 tiles, as they arrive, to the 16-bit blocks that products read.
#pragma once

#include "forward/config.cuh"
#include "forward/work.h"
#include "ptx/barrier.cuh"
#include "ptx/warp.cuh"
#include "ptx/wgmma.cuh"

namespace whet_kernels {

template <class C>
class Converter {
 public:
  using S = Shared<C>;

  __device__ Converter(uint32_t base, char* shared) : base_(base), shared_(shared), thread_(threadIdx.x - 128 * C::kConsumers - 32) {}

  // Follows the producer from one piece of work to the next, through the same tiles in the same order.
  __device__ void run() {
    for (int turn = 0;; ++turn) {
      ptx::wait(base_ + S::kQFull + 8 * q_place<C>(turn), q_parity<C>(turn), "Q full");
      const Work& work = *reinterpret_cast<const Work*>(shared_ + S::kWork + turn % kWorkPlaces * kWorkWords * 4);
      if (work.rows < 0) return;
      const int tiles = work.end - work.begin;
      for (int i = 0; i < tiles; ++i) {
        if (i == 0) keys();
        if (i + 1 < tiles) keys();
        values();
      }
      // Only now may the producer overwrite this piece's words (four turns from here).
      __syncwarp();
      if (thread_ % 32 == 0) ptx::arrive(base_ + S::kQEmpty + 8 * q_place<C>(turn));
    }
  }

 private:
  static constexpr int kThreads = 32 * C::kConverterWarps;

  __device__ void keys() {
    if constexpr (C::kConvertK) tile<C::kD, C::kRowBytes>(load_k_, S::kLoadK, S::kLoadKFull, S::kLoadKEmpty, k_, S::kK, S::kKFull, S::kKEmpty);
  }
  __device__ void values() { tile<C::kDv, C::kRowBytesV>(load_v_, S::kLoadV, S::kLoadVFull, S::kLoadVEmpty, v_, S::kV, S::kVFull, S::kVEmpty); }

  template <int kWidth, int kRowBytes>
  __device__ void tile(Ring<C::kStages>& from, int from_at, int from_full, int from_empty, Ring<2>& to, int to_at, int to_full, int to_empty) {
    ptx::wait(base_ + from_full + 8 * from.stage, from.parity, "8-bit tile full");
    ptx::wait(base_ + to_empty + 8 * to.stage, to.parity ^ 1, "16-bit tile empty");
    const char* source = shared_ + from_at + from.stage * C::kKeys * kWidth;
    char* target = shared_ + to_at + to.stage * C::kKeys * kWidth * 2;
    constexpr int kChunks = kWidth / 16;  // of 16 e4m3 numbers in a row
#pragma unroll 4
    for (int i = thread_; i < C::kKeys * kChunks; i += kThreads) {
      const int row = i / kChunks, column = i % kChunks * 32;  // in bytes of the target
      const uint4 eight = reinterpret_cast<const uint4*>(source)[i];
      char* block = target + column / kRowBytes * C::kKeys * kRowBytes;
      const int chunk = column % kRowBytes / 16, turn = column / 128 & 1;  // half of a warp's threads begin with the second chunk: other banks
      const uint4 low = widen(eight.x, eight.y), high = widen(eight.z, eight.w);
      *reinterpret_cast<uint4*>(block + ptx::Swizzled<kRowBytes>::chunk(row, chunk + turn)) = turn ? high : low;
      *reinterpret_cast<uint4*>(block + ptx::Swizzled<kRowBytes>::chunk(row, chunk + 1 - turn)) = turn ? low : high;
    }
    ptx::async_fence();
    __syncwarp();
    if (thread_ % 32 == 0) {
      ptx::arrive(base_ + from_empty + 8 * from.stage);
      ptx::arrive(base_ + to_full + 8 * to.stage);
    }
    from.advance();
    to.advance();
  }

  static __device__ uint4 widen(uint32_t a, uint32_t b) {
    using T = typename C::T;
    return make_uint4(ptx::widen<T>(a & 0xffff), ptx::widen<T>(a >> 16), ptx::widen<T>(b & 0xffff), ptx::widen<T>(b >> 16));
  }

  const uint32_t base_;
  char* const shared_;
  const int thread_;
  Ring<C::kStages> load_k_, load_v_;
  Ring<2> k_, v_;
};

}  // namespace whet_kernels
