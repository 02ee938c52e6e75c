// SPDX-License-Identifier: Apache-2.0
//
// mbarriers in shared memory, and named barriers of groups of warps.
//
// With WHET_KERNELS_WATCHDOG a wait that lasts about two seconds traps, so that a deadlock is an error and no hang. (A message would need a call,
// and a call within a pipeline of products makes ptxas serialise them; the name is for cuda-gdb.)
#pragma once

#include <cstdint>

namespace whet_kernels::ptx {

__device__ inline uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ inline void barrier_init(uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers visible to the copy engine and to other CTAs of the cluster; the CTA synchronises afterwards.
__device__ inline void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival that also announces `bytes` to come from the copy engine in this phase.
__device__ inline void arrive_expecting(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ inline bool has_completed(uint32_t barrier, uint32_t parity) {
  uint32_t done;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n"
      "}\n"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

// Waits for the end of the phase of that parity. A fresh barrier is in the phase of parity 0, so a wait for parity 1 returns at once.
__device__ inline void wait(uint32_t barrier, uint32_t parity, const char* name) {
#if defined(WHET_KERNELS_WATCHDOG)
  const long long begin = clock64();
  while (!has_completed(barrier, parity))
    if (clock64() - begin > 4'000'000'000ll) __trap();
#else
  while (!has_completed(barrier, parity)) {
  }
#endif
  (void)name;
}

// Ordinary stores of this thread to shared memory before what the copy engine and products do with it afterwards.
__device__ inline void async_fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Named barriers: `threads` counts those that sync and those that arrive. Barrier 0 is __syncthreads().
__device__ inline void named_sync(int id, int threads) { asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__device__ inline void named_arrive(int id, int threads) { asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

}  // namespace whet_kernels::ptx
