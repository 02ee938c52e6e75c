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

// The same without the special function unit, for -126 <= x < 127 (below: 2^-126): relative error 8e-5, about nine instructions.
__device__ inline float exp2_by_products(float x) {
  x = fmaxf(x, -126.f);
  const float shifted = x + 12582912.f;  // the nearest integer to x is in the low bits
  const float rest = x - (shifted - 12582912.f);
  const float p = fmaf(fmaf(fmaf(0.0551724510f, rest, 0.2426109478f), rest, 0.6932608194f), rest, 0.9999280813f);
  return __int_as_float(__float_as_int(p) + (__float_as_int(shifted) << 23));
}

// |x| <= 1.2: absolute error 1.2e-4.
__device__ inline float tanh_by_products(float x) {
  const float u = x * x;
  return x * fmaf(fmaf(fmaf(-0.0185681190f, u, 0.1045907377f), u, -0.3235277452f), u, 0.9990576101f);
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
