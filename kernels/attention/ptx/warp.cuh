// SPDX-License-Identifier: Apache-2.0
//
// Registers per warpgroup, fast exponentials, packing of pairs.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

namespace whet_kernels::ptx {

// A multiple of 8. Takes effect only where the kernel states __launch_bounds__(threads, blocks) and each role is one branch (ptxas: C7508).
template <int kRegisters>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// 2^x, relative error 2^-22; 2^-inf is 0.
__device__ inline float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Absolute error about 2^-11.
__device__ inline float tanh_approx(float x) {
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Two values of the storage type in one register, `low` in the lower half.
template <class T>
__device__ uint32_t pack(float low, float high);
template <>
__device__ inline uint32_t pack<__nv_bfloat16>(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
template <>
__device__ inline uint32_t pack<__half>(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

// Two e4m3 numbers, exactly.
template <class T>
__device__ uint32_t widen(uint32_t pair);
template <>
__device__ inline uint32_t widen<__half>(uint32_t pair) {
  uint32_t wide;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(wide) : "h"(static_cast<unsigned short>(pair)));
  return wide;
}
template <>
__device__ inline uint32_t widen<__nv_bfloat16>(uint32_t pair) {
  const uint32_t half = widen<__half>(pair);
  const float2 both = __half22float2(reinterpret_cast<const __half2&>(half));
  return pack<__nv_bfloat16>(both.x, both.y);
}

}  // namespace whet_kernels::ptx
