// SPDX-License-Identifier: Apache-2.0
//
// A consumer: one warpgroup that owns 64 query rows of a tile. The products of the next key tile run under the softmax of this one; with several
// consumers they take turns at the tensor cores, so that one multiplies while another exponentiates.
#pragma once

#include "forward/config.cuh"
#include "forward/epilogue.cuh"
#include "forward/softmax.cuh"
#include "forward/work.h"
#include "ptx/barrier.cuh"
#include "ptx/wgmma.cuh"

namespace whet_kernels {

template <class C>
class Consumer {
 public:
  using T = typename C::T;
  using S = Shared<C>;
  using Block = ptx::Swizzled<C::kRowBytes>;
  using BlockV = ptx::Swizzled<C::kRowBytesV>;

  __device__ Consumer(const Facts& facts, uint32_t base, char* shared)
      : facts_(facts), base_(base), shared_(shared), group_(__shfl_sync(0xffffffffu, threadIdx.x / 128, 0)), lane_(threadIdx.x % 32) {}

  __device__ __forceinline__ void run() {
    // The first group's turn is given by the last one, which has not had one.
    if (C::kTurns && group_ == C::kConsumers - 1) ptx::named_arrive(1, 256);
    for (int turn = 0;; ++turn) {
      q_place_ = q_place<C>(turn);
      ptx::wait(base_ + S::kQFull + 8 * q_place_, q_parity<C>(turn), "Q full");
      const Work& work = *reinterpret_cast<const Work*>(shared_ + S::kWork + turn % kWorkPlaces * kWorkWords * 4);
      if (work.rows < 0) return;
      attend(work);
    }
  }

 private:
  __device__ __forceinline__ void attend(const Work& work) {
    const Epilogue<C> epilogue(facts_, work, group_);
    const int begin = work.begin, end = work.end, clean_begin = work.clean_begin, clean_end = work.clean_end;
    if (begin >= end) {
      release(S::kQEmpty + 8 * q_place_);
      return epilogue.zeros();
    }
    const Sight sight(facts_, work, epilogue.first_row());
    set_scales(work);
    float o[C::kDvOwn / 2], s[C::kKeys / 2];
    uint32_t p[C::kKeys / 16][4];
    Softmax softmax;
    if constexpr (C::kLatent) {
      attend_latent(o, s, p, softmax, sight, begin, end, clean_begin, clean_end);
      return finish(o, softmax, work, epilogue);
    }

    ptx::wait(base_ + S::kKFull + 8 * k_ring_.stage, k_ring_.parity, "K full");
    ptx::products_fence();
    scores(s);
    ptx::products_commit();
    ptx::products_wait<0>();
    ptx::hold(s);
    release(S::kKEmpty + 8 * k_ring_.stage);
    k_ring_.advance();
    if (end - 1 >= clean_end || end - 1 < clean_begin) weights<true>(s, softmax, sight, end - 1);
    else weights<false>(s, softmax, sight, end - 1);
    pack(s, p);

    // From the last key tile down: those at the diagonal, those without a mask, those at the left edge of the window.
    int accumulate = 0, tile = end - 2;
    for (; tile >= clean_end; --tile, accumulate = 1) step<true>(o, s, p, softmax, sight, tile, accumulate);
    for (; tile >= clean_begin; --tile, accumulate = 1) step<false>(o, s, p, softmax, sight, tile, accumulate);
    for (; tile >= begin; --tile, accumulate = 1) step<true>(o, s, p, softmax, sight, tile, accumulate);
    release(S::kQEmpty + 8 * q_place_);

    ptx::wait(base_ + S::kVFull + 8 * v_ring_.stage, v_ring_.parity, "V full");
    ptx::products_fence();
    outputs(o, p, accumulate);
    ptx::products_commit();
    softmax.sum[0] = of_quad_sum(softmax.sum[0]);
    softmax.sum[1] = of_quad_sum(softmax.sum[1]);
    ptx::products_wait<0>();
    ptx::hold(o);
    ptx::hold(p);
    release(S::kVEmpty + 8 * v_ring_.stage);
    v_ring_.advance();
    finish(o, softmax, work, epilogue);
  }

  // Keys and values are one tile, held from the first product to the end of the second; the other consumer's products run under this one's softmax.
  __device__ __forceinline__ void attend_latent(float (&o)[C::kDvOwn / 2], float (&s)[C::kKeys / 2], uint32_t (&p)[C::kKeys / 16][4], Softmax& softmax, const Sight& sight,
                                                int begin, int end, int clean_begin, int clean_end) {
    int accumulate = 0, tile = end - 1;
    for (; tile >= clean_end; --tile, accumulate = 1) whole_step<true>(o, s, p, softmax, sight, tile, accumulate);
    for (; tile >= clean_begin; --tile, accumulate = 1) whole_step<false>(o, s, p, softmax, sight, tile, accumulate);
    for (; tile >= begin; --tile, accumulate = 1) whole_step<true>(o, s, p, softmax, sight, tile, accumulate);
    release(S::kQEmpty + 8 * q_place_);
    softmax.sum[0] = of_quad_sum(softmax.sum[0]);
    softmax.sum[1] = of_quad_sum(softmax.sum[1]);
  }

  template <bool kMasked>
  __device__ __forceinline__ void whole_step(float (&o)[C::kDvOwn / 2], float (&s)[C::kKeys / 2], uint32_t (&p)[C::kKeys / 16][4], Softmax& softmax, const Sight& sight,
                                             int tile, int accumulate) {
    ptx::wait(base_ + S::kKFull + 8 * k_ring_.stage, k_ring_.parity, "K full");
    ptx::products_fence();
    scores(s);
    ptx::products_commit();
    ptx::products_wait<0>();
    ptx::hold(s);
    weights<kMasked>(s, softmax, sight, tile);
    if (accumulate) softmax.rescale(o);
    pack(s, p);
    ptx::products_fence();
    outputs(o, p, accumulate);
    ptx::products_commit();
    ptx::products_wait<0>();
    ptx::hold(o);
    ptx::hold(p);
    release(S::kKEmpty + 8 * k_ring_.stage);
    k_ring_.advance();
    v_ring_.advance();
  }

  // Scores of `tile` and outputs of the one before it (in p), then the softmax of `tile` while the outputs are still being summed.
  template <bool kMasked>
  __device__ __forceinline__ void step(float (&o)[C::kDvOwn / 2], float (&s)[C::kKeys / 2], uint32_t (&p)[C::kKeys / 16][4], Softmax& softmax, const Sight& sight,
                                       int tile, int accumulate) {
    ptx::wait(base_ + S::kKFull + 8 * k_ring_.stage, k_ring_.parity, "K full");
    if (C::kTurns) ptx::named_sync(1 + group_, 256);
    ptx::products_fence();
    scores(s);
    ptx::products_commit();
    ptx::wait(base_ + S::kVFull + 8 * v_ring_.stage, v_ring_.parity, "V full");
    ptx::products_fence();
    outputs(o, p, accumulate);
    ptx::products_commit();
    if (C::kTurns) ptx::named_arrive(1 + (group_ + 1 == C::kConsumers ? 0 : group_ + 1), 256);
    ptx::products_wait<1>();
    ptx::hold(s);
    release(S::kKEmpty + 8 * k_ring_.stage);
    k_ring_.advance();
    weights<kMasked>(s, softmax, sight, tile);
    // All of the exponentials before the wait: the compiler would move them behind it, out of the shadow of the products.
    ptx::hold(s);
    ptx::hold(softmax.sum);
    ptx::products_wait<0>();
    ptx::hold(o);
    ptx::hold(p);
    release(S::kVEmpty + 8 * v_ring_.stage);
    v_ring_.advance();
    softmax.rescale(o);
    pack(s, p);
  }

  __device__ __forceinline__ void scores(float (&s)[C::kKeys / 2]) const {
    const uint64_t q = Block::along_rows(base_ + S::kQ + q_place_ * C::kQBytes + (C::kLatent ? 0 : group_ * 64 * C::kRowBytes));
    const uint64_t k = Block::along_rows(base_ + S::kK + k_ring_.stage * C::kKBytes);
#pragma unroll
    for (int block = 0; block < C::kBlocks; ++block)
#pragma unroll
      for (int i = 0; i < C::kRowBytes / 32; ++i)
        ptx::SS<typename C::Score, C::kKeys>::go(s, q + ((block * C::kRows * C::kRowBytes + 32 * i) >> 4), k + ((block * C::kKeys * C::kRowBytes + 32 * i) >> 4), block + i > 0);
  }

  __device__ __forceinline__ void outputs(float (&o)[C::kDvOwn / 2], const uint32_t (&p)[C::kKeys / 16][4], int accumulate) const {
    constexpr uint32_t kBlockBytes = C::kKeys * C::kRowBytesV;
    const uint32_t own = C::kLatent ? group_ * (C::kDvOwn * 2 / C::kRowBytesV) * kBlockBytes : 0;
    const uint64_t v = BlockV::across_rows(base_ + S::kV + v_ring_.stage * (C::kLatent ? C::kKBytes : C::kVBytes) + own, kBlockBytes);
#pragma unroll
    for (int i = 0; i < C::kKeys / 16; ++i) ptx::RS<T, C::kDvOwn>::go(o, p[i], v + ((2 * i * BlockV::kAtomBytes) >> 4), i > 0 ? 1 : accumulate);
  }

  template <bool kMasked>
  __device__ __forceinline__ void weights(float (&s)[C::kKeys / 2], Softmax& softmax, const Sight& sight, int tile) const {
    if constexpr (C::kSoftcap) {
#pragma unroll
      for (float& score : s) score = ptx::tanh_approx(score * softcap_scale_);
    }
    if constexpr (kMasked) hide(s, sight, tile * C::kKeys + 2 * (lane_ % 4));
    softmax.step<kMasked>(s, logit_scale_);
  }

  __device__ __forceinline__ void pack(const float (&s)[C::kKeys / 2], uint32_t (&p)[C::kKeys / 16][4]) const {
#pragma unroll
    for (int i = 0; i < C::kKeys / 16; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) p[i][j] = ptx::pack<T>(s[8 * i + 2 * j], s[8 * i + 2 * j + 1]);
  }

  __device__ __forceinline__ void finish(const float (&o)[C::kDvOwn / 2], const Softmax& softmax, const Work& work, const Epilogue<C>& epilogue) const {
    const float top[2] = {softmax.top[0] * logit_scale_, softmax.top[1] * logit_scale_};
    if (work.slot >= 0) {
      volatile int* last = reinterpret_cast<volatile int*>(shared_ + S::kLast) + group_;
      if (epilogue.part(o, top, softmax.sum, last)) epilogue.sum_parts(output_scale_);
      return;
    }
    float weight[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      float sum = softmax.sum[i];
      if (sum > 0.f && facts_.sink != nullptr && epilogue.first_row() + 8 * i < work.rows) sum += epilogue.sink_of(epilogue.first_row() + 8 * i, top[i]);
      weight[i] = sum > 0.f ? output_scale_ / sum : 0.f;
    }
    epilogue.whole(o, weight);
  }

  // e4m3 tensors have a factor per sequence and key head.
  __device__ __forceinline__ void set_scales(const Work& work) {
    logit_scale_ = facts_.logit_scale;
    softcap_scale_ = facts_.softcap_scale;
    if constexpr (C::kConvertV) {
      const int at = work.sequence * facts_.kv_heads + work.kv_head;
      const float of_logits = (facts_.q_descale != nullptr ? facts_.q_descale[at] : 1.f) * facts_.k_descale[at];
      if constexpr (C::kSoftcap) softcap_scale_ *= of_logits;
      else logit_scale_ *= of_logits;
      output_scale_ = facts_.v_descale[at];
    }
  }

  // Every warp tells for itself that it is done with a buffer.
  __device__ __forceinline__ void release(int barrier) const {
    __syncwarp();
    if (lane_ == 0) ptx::arrive(base_ + barrier);
  }

  const Facts& facts_;
  const uint32_t base_;
  char* const shared_;
  const int group_, lane_;
  int q_place_ = 0;
  float logit_scale_ = 1.f, softcap_scale_ = 1.f, output_scale_ = 1.f;
  Ring<C::kTilesK> k_ring_;
  Ring<C::kLatent ? C::kTilesK : C::kTilesV> v_ring_;
};

}  // namespace whet_kernels
