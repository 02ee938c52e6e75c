// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "forward/consumer.cuh"
#include "forward/converter.cuh"
#include "forward/kernel_arguments.h"
#include "forward/producer.cuh"

namespace whet_kernels {

template <class C>
__global__ void __launch_bounds__(C::kThreads, C::kCtas) attend(const __grid_constant__ Maps maps, const __grid_constant__ Facts facts) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(1024) char shared[];
  using S = Shared<C>;
  const uint32_t base = ptx::shared_address(shared);
  const int role = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) {
    if (base % 1024 != 0) __trap();  // the swizzle counts rows from multiples of 1024
    ptx::prefetch_map(&maps.q);
    ptx::prefetch_map(&maps.k);
    ptx::prefetch_map(&maps.v);
    for (int i = 0; i < C::kQBuffers; ++i) {
      ptx::barrier_init(base + S::kQFull + 8 * i, 1);
      ptx::barrier_init(base + S::kQEmpty + 8 * i, 4 * C::kConsumers + (C::kConvertV ? C::kConverterWarps : C::kTwoProducers ? 1 : 0));
    }
    for (int i = 0; i < C::kTilesK; ++i) {
      ptx::barrier_init(base + S::kKFull + 8 * i, C::kConvertK ? C::kConverterWarps : 1);
      ptx::barrier_init(base + S::kKEmpty + 8 * i, 4 * C::kConsumers);
    }
    for (int i = 0; i < C::kTilesV; ++i) {
      ptx::barrier_init(base + S::kVFull + 8 * i, C::kConvertV ? C::kConverterWarps : 1);
      ptx::barrier_init(base + S::kVEmpty + 8 * i, 4 * C::kConsumers);
    }
    for (int i = 0; i < C::kStages; ++i) {
      if (C::kConvertK) ptx::barrier_init(base + S::kLoadKFull + 8 * i, 1);
      if (C::kConvertK) ptx::barrier_init(base + S::kLoadKEmpty + 8 * i, C::kConverterWarps);
      if (C::kConvertV) ptx::barrier_init(base + S::kLoadVFull + 8 * i, 1);
      if (C::kConvertV) ptx::barrier_init(base + S::kLoadVEmpty + 8 * i, C::kConverterWarps);
    }
    ptx::barrier_init_fence();
  }
  __syncthreads();
  if (role == C::kConsumers) {
    if constexpr (C::kRebalances) ptx::give_registers<C::kProducerRegisters>();
    if (threadIdx.x < 128 * C::kConsumers + 32) Producer<C>(maps.q, maps.k, maps.v, facts, base, shared).run();
    else if constexpr (C::kConvertV) Converter<C>(base, shared).run();
    else if (C::kTwoProducers && threadIdx.x < 128 * C::kConsumers + 64) Producer<C>(maps.q, maps.k, maps.v, facts, base, shared).run_values();
  } else {
    if constexpr (C::kRebalances) ptx::take_registers<C::kConsumerRegisters>();
    Consumer<C>(facts, base, shared).run();
  }
#endif
}

}  // namespace whet_kernels
