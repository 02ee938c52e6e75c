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

  // Hands out work, and loads queries and keys; values too, where no second warp does.
  __device__ void run() {
    int index = first();
    for (int turn = 0;; ++turn) {
      // Asked for now and read when this work has been issued: the answer takes a microsecond.
      const int taken = ask();
      const bool any = index < end_;
      int words = -1;  // the end of all work: rows < 0
      if (any && lane_ < kWorkWords) words = reinterpret_cast<const int*>(facts_.work + index)[lane_];
      int* place = reinterpret_cast<int*>(shared_ + S::kWork) + turn % kWorkPlaces * kWorkWords;
      if (lane_ < kWorkWords) place[lane_] = words;
      __syncwarp();
      const Work& work = *reinterpret_cast<const Work*>(place);
      const bool has_keys = any && work.begin < work.end;
      int page = 0;
      if (has_keys) {
        page = page_of(work, work.end - 1);
        load_k(work, work.end - 1, page);
      }
      ptx::wait(base_ + S::kQEmpty + 8 * q_place<C>(turn), q_parity<C>(turn) ^ 1, "Q empty");
      if (!any) {
        if (lane_ == 0) ptx::arrive(base_ + S::kQFull + 8 * q_place<C>(turn));
        break;
      }
      load_q(work, q_place<C>(turn));
      if (has_keys) load_rest(work, page);
      index = next(index, taken);
    }
    finish();
  }

  // The second warp: values, piece after piece.
  __device__ void run_values() {
    for (int turn = 0;; ++turn) {
      ptx::wait(base_ + S::kQFull + 8 * q_place<C>(turn), q_parity<C>(turn), "Q full");
      const Work& work = *reinterpret_cast<const Work*>(shared_ + S::kWork + turn % kWorkPlaces * kWorkWords * 4);
      if (work.rows < 0) return;
      int page = work.begin < work.end ? page_of(work, work.end - 1) : 0;
      for (int tile = work.end - 1; tile >= work.begin; --tile) {
        const int next_page = tile > work.begin ? page_of(work, tile - 1) : 0;
        load_v(work, tile, page);
        page = next_page;
      }
      __syncwarp();
      if (lane_ == 0) ptx::arrive(base_ + S::kQEmpty + 8 * q_place<C>(turn));  // these words have been read
    }
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

  __device__ void load_q(const Work& work, int place) {
    if (lane_ != 0) return;
    const uint32_t full = base_ + S::kQFull + 8 * place;
    ptx::arrive_expecting(full, C::kBlocks * facts_.q_box_bytes);
    for (int i = 0; i < C::kBlocks; ++i) ptx::load_box(base_ + S::kQ + place * C::kQBytes + i * C::kRows * C::kRowBytes, &q_, full, 0, 0, work.q_row, i, work.head);
  }

  // All but the first keys. K of the next tile goes ahead of V of this one: that is the order in which they are used. Page numbers are read a tile ahead.
  __device__ void load_rest(const Work& work, [[maybe_unused]] int page) {
    const int begin = work.begin, end = work.end;
    int next_page = end - 1 > begin ? page_of(work, end - 2) : 0;
    for (int tile = end - 1; tile >= begin; --tile) {
      const int page_after = tile - 2 >= begin ? page_of(work, tile - 2) : 0;
      if (tile > begin) load_k(work, tile - 1, next_page);
      if constexpr (!C::kTwoProducers) {
        load_v(work, tile, page);
        page = next_page;
      }
      next_page = page_after;
    }
  }

  __device__ void load_k(const Work& work, int tile, int page) {
    // What will be converted comes as plain rows.
    constexpr int kBlocks = C::kConvertK ? 1 : C::kBlocks, kRowBytes = C::kConvertK ? C::kD : C::kRowBytes;
    load<C::kLoadKBytes, kBlocks, kRowBytes>(k_, S::kLoadK, S::kLoadKFull, S::kLoadKEmpty, k_ring_, work, tile, page, "K empty");
  }
  __device__ void load_v(const Work& work, int tile, int page) {
    constexpr int kBlocks = C::kConvertV ? 1 : C::kBlocksV, kRowBytes = C::kConvertV ? C::kDv : C::kRowBytesV;
    if constexpr (!C::kLatent) load<C::kLoadVBytes, kBlocks, kRowBytes>(v_, S::kLoadV, S::kLoadVFull, S::kLoadVEmpty, v_ring_, work, tile, page, "V empty");
  }

  // Lane i holds the page of the i-th copy of a tile. Entries past the sequence carry no meaning: whatever valid page they name is loaded and masked.
  __device__ int page_of(const Work& work, int tile) const { return facts_.page_table == nullptr ? 0 : page_at(work, tile * C::kKeys + lane_ * facts_.page_rows); }
  __device__ int page_at(const Work& work, int row) const {
    const int column = min(row / facts_.page_size, facts_.pages_per_seq - 1);
    return min(max(facts_.page_table[static_cast<long long>(work.batch) * facts_.pages_per_seq + column], 0), facts_.last_page);
  }

  template <int kBytes, int kBlocks, int kRowBytes>
  __device__ void load(const CUtensorMap& map, int to, int full, int empty, Ring<C::kStages>& ring, const Work& work, int tile, int page, const char* name) {
    const uint32_t barrier = base_ + full + 8 * ring.stage, at = base_ + to + ring.stage * kBytes;
    ptx::wait(base_ + empty + 8 * ring.stage, ring.parity ^ 1, name);
    if (lane_ == 0) ptx::arrive_expecting(barrier, kBytes);
    if (facts_.page_table == nullptr) {
      if (lane_ == 0) ptx::load_box(at, &map, barrier, 0, work.kv_row + tile * C::kKeys, 0, work.kv_head, work.batch);
    } else {
      __syncwarp();
      // More than 32 copies: pages that share no factor with a tile, row by row.
      for (int offset = lane_ * facts_.page_rows; offset < C::kKeys; offset += 32 * facts_.page_rows) {
        const int key = tile * C::kKeys + offset;
        if (offset >= 32 * facts_.page_rows) page = page_at(work, key);
#pragma unroll
        for (int i = 0; i < kBlocks; ++i)
          ptx::load_box(at + (i * C::kKeys + offset) * kRowBytes, &map, barrier, 0, key % facts_.page_size, i, work.kv_head, page);
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
