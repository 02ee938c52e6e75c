// SPDX-License-Identifier: Apache-2.0
//
// The producer: one warp that hands out work and keeps the copy engine busy.
#pragma once

#include "forward/config.cuh"
#include "forward/work.h"
#include "ptx/barrier.cuh"
#include "ptx/tma.cuh"

namespace whet_kernels {

template <class C>
class Producer {
 public:
  using S = Shared<C>;

  __device__ Producer(const CUtensorMap& q, const CUtensorMap& k, const CUtensorMap& v, const Facts& facts, uint32_t base, char* shared)
      : q_(q), k_(k), v_(v), facts_(facts), base_(base), shared_(shared), lane_(threadIdx.x % 32) {}

  __device__ void run() {
    int index = first();
    for (int turn = 0;; ++turn) {
      // Asked for now and read when this work has been issued: the answer takes a microsecond.
      const int taken = ask();
      int words = 0;
      const bool any = index < end_;
      if (any && lane_ < kWorkWords) words = reinterpret_cast<const int*>(facts_.work + index)[lane_];
      ptx::wait(base_ + S::kQEmpty, (turn & 1) ^ 1, "Q empty");
      int* slot = reinterpret_cast<int*>(shared_ + S::kWork) + (turn & 1) * kWorkWords;
      if (!any) words = -1;  // the end of all work: rows < 0
      if (lane_ < kWorkWords) slot[lane_] = words;
      __syncwarp();
      if (!any) {
        if (lane_ == 0) ptx::arrive(base_ + S::kQFull);
        break;
      }
      issue(*reinterpret_cast<const Work*>(slot));
      index = next(index, taken);
    }
    finish();
  }

 private:
  __device__ int first() {
    if (facts_.first_of_cta == nullptr) {
      end_ = facts_.num_work;
      return blockIdx.x;
    }
    end_ = facts_.first_of_cta[blockIdx.x + 1];
    return facts_.first_of_cta[blockIdx.x];
  }
  __device__ int ask() { return facts_.first_of_cta == nullptr && lane_ == 0 ? static_cast<int>(atomicAdd(&facts_.counters->next, 1u)) : 0; }
  __device__ int next(int index, int taken) {
    return facts_.first_of_cta == nullptr ? static_cast<int>(gridDim.x) + __shfl_sync(0xffffffffu, taken, 0) : index + 1;
  }
  // The last producer leaves the counters as it found them.
  __device__ void finish() {
    if (facts_.first_of_cta != nullptr || lane_ != 0) return;
    __threadfence();
    if (atomicAdd(&facts_.counters->done, 1u) + 1 == gridDim.x) {
      facts_.counters->next = 0;
      facts_.counters->done = 0;
    }
  }

  __device__ void issue(const Work& work) {
    const int begin = work.begin, end = work.end;
    if (lane_ == 0) {
      ptx::arrive_expecting(base_ + S::kQFull, C::kBlocks * facts_.q_box_bytes);
      for (int i = 0; i < C::kBlocks; ++i)
        ptx::load_box(base_ + S::kQ + i * C::kRows * 2 * C::kColumns, &q_, base_ + S::kQFull, 0, 0, work.q_row, i, work.head);
    }
    if (begin >= end) return;
    // K of the next tile goes ahead of V of this one: that is the order in which they are used.
    int page = page_of(work, end - 1);
    load<C::kKBytes, C::kBlocks>(k_, S::kK, S::kKFull, S::kKEmpty, k_ring_, work, end - 1, page, "K empty");
    for (int tile = end - 1; tile > begin; --tile) {
      const int next_page = page_of(work, tile - 1);
      load<C::kKBytes, C::kBlocks>(k_, S::kK, S::kKFull, S::kKEmpty, k_ring_, work, tile - 1, next_page, "K empty");
      load<C::kVBytes, C::kBlocksV>(v_, S::kV, S::kVFull, S::kVEmpty, v_ring_, work, tile, page, "V empty");
      page = next_page;
    }
    load<C::kVBytes, C::kBlocksV>(v_, S::kV, S::kVFull, S::kVEmpty, v_ring_, work, begin, page, "V empty");
  }

  // Lane i holds the page of the i-th copy of a tile. Entries past the sequence carry no meaning: whatever valid page they name is loaded and masked.
  __device__ int page_of(const Work& work, int tile) const {
    if (facts_.page_table == nullptr) return 0;
    const int row = tile * C::kKeys + lane_ * facts_.page_rows;
    const int column = min(row / facts_.page_size, facts_.pages_per_seq - 1);
    return min(max(facts_.page_table[static_cast<long long>(work.batch) * facts_.pages_per_seq + column], 0), facts_.last_page);
  }

  template <int kBytes, int kBlocks>
  __device__ void load(const CUtensorMap& map, int to, int full, int empty, Ring<C::kStages>& ring, const Work& work, int tile, int page, const char* name) {
    const uint32_t barrier = base_ + full + 8 * ring.stage, at = base_ + to + ring.stage * kBytes;
    ptx::wait(base_ + empty + 8 * ring.stage, ring.parity ^ 1, name);
    if (lane_ == 0) ptx::arrive_expecting(barrier, kBytes);
    if (facts_.page_table == nullptr) {
      if (lane_ == 0) ptx::load_box(at, &map, barrier, 0, work.kv_row + tile * C::kKeys, 0, work.kv_head, work.batch);
    } else {
      __syncwarp();
      const int offset = lane_ * facts_.page_rows;
      if (offset < C::kKeys) {
        const int row = (tile * C::kKeys + offset) % facts_.page_size;
#pragma unroll
        for (int i = 0; i < kBlocks; ++i)
          ptx::load_box(at + (i * C::kKeys + offset) * 2 * C::kColumns, &map, barrier, 0, row, i, work.kv_head, page);
      }
      __syncwarp();
    }
    ring.advance();
  }

  const CUtensorMap &q_, &k_, &v_;
  const Facts& facts_;
  const uint32_t base_;
  char* const shared_;
  const int lane_;
  int end_ = 0;
  Ring<C::kStages> k_ring_, v_ring_;
};

}  // namespace whet_kernels
