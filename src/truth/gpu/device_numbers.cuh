// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

#include "truth/gpu/device_arguments.h"

// truth/measure/number_format.h on the device: the same bits for every value.
namespace whet::gpu {

__device__ inline float from_bfloat16(uint32_t bits) { return __uint_as_float(bits << 16); }

__device__ inline float from_half(uint32_t bits) {
  float value;
  const unsigned short half = (unsigned short)bits;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}

// Formats of one byte: built from the bits, so that no table is needed. A subnormal is its mantissa times a power of two, which is exact.
template <int kExponent, int kMantissa, bool kIeee>
__device__ inline float from_byte(uint32_t bits) {
  constexpr uint32_t top = (1u << kExponent) - 1, ones = (1u << kMantissa) - 1;
  constexpr int bias = (1 << (kExponent - 1)) - 1;
  const uint32_t sign = (bits >> (kExponent + kMantissa)) & 1u, exponent = (bits >> kMantissa) & top, mantissa = bits & ones;
  float value;
  if (kIeee && exponent == top) value = mantissa ? __uint_as_float(0x7fc00000u) : __uint_as_float(0x7f800000u);
  else if (!kIeee && exponent == top && mantissa == ones) value = __uint_as_float(0x7fc00000u);
  else if (exponent == 0) value = (float)mantissa * __uint_as_float((uint32_t)(127 + 1 - bias - kMantissa) << 23);
  else value = __uint_as_float(((exponent + 127 - bias) << 23) | (mantissa << (23 - kMantissa)));
  return sign ? -value : value;
}

__device__ inline uint32_t to_bfloat16(float value) {
  uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return ((bits >> 16) | 0x40u) & 0xffffu;
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return bits >> 16;
}

// small_from_float, step by step.
__device__ inline uint32_t to_small(float value, int exponent, int mantissa, bool ieee) {
  const uint32_t sign = (__float_as_uint(value) >> 31) ? 1u << (exponent + mantissa) : 0u;
  const uint32_t top = (1u << exponent) - 1u, ones = (1u << mantissa) - 1u;
  const int bias = (1 << (exponent - 1)) - 1;
  if (isnan(value)) return sign | (top << mantissa) | ones;
  const float magnitude = fabsf(value);
  const uint32_t largest = ieee ? ((top - 1) << mantissa) | ones : exponent == 4 ? (top << mantissa) | (ones - 1) : (top << mantissa) | ones;
  const uint32_t infinity = ieee ? top << mantissa : largest;
  if (isinf(value)) return sign | infinity;
  if (magnitude == 0) return sign;
  int power = ilogbf(magnitude);
  if (power < 1 - bias) power = 1 - bias;
  const uint32_t integer = (uint32_t)nearbyintf(ldexpf(magnitude, mantissa - power));
  uint32_t exponent_bits = (uint32_t)(power + bias);
  if (integer < (1u << mantissa)) exponent_bits = 0;
  const uint32_t bits = exponent_bits == 0 ? integer : (exponent_bits << mantissa) + (integer - (1u << mantissa));
  return sign | (bits > largest ? infinity : bits);
}

__device__ inline double load_element(int format, uint64_t data, int64_t i) {
  switch (format) {
    case kFloat64: return ((const double*)data)[i];
    case kFloat32: return ((const float*)data)[i];
    case kFloat16: return from_half(((const uint16_t*)data)[i]);
    case kBfloat16: return from_bfloat16(((const uint16_t*)data)[i]);
    case kE4m3: return from_byte<4, 3, false>(((const uint8_t*)data)[i]);
    case kE5m2: return from_byte<5, 2, true>(((const uint8_t*)data)[i]);
    case kInt64: return (double)((const int64_t*)data)[i];
    case kInt32: return ((const int32_t*)data)[i];
    case kInt16: return ((const int16_t*)data)[i];
    case kInt8: return ((const int8_t*)data)[i];
    default: return ((const uint8_t*)data)[i];  // bool, e2m1 (packed)
  }
}

__device__ inline double clamped(double value, double low, double high) { return fmin(fmax(nearbyint(value), low), high); }

// Formats that the CPU rounds from single precision. (A NaN that goes through double precision loses its sign on the device.)
__device__ inline void store_single(int format, uint64_t data, int64_t i, float value) {
  switch (format) {
    case kFloat32: ((float*)data)[i] = value; break;
    case kFloat16: ((uint16_t*)data)[i] = (uint16_t)to_small(value, 5, 10, true); break;
    case kBfloat16: ((uint16_t*)data)[i] = (uint16_t)to_bfloat16(value); break;
    case kE4m3: ((uint8_t*)data)[i] = (uint8_t)to_small(value, 4, 3, false); break;
    case kE5m2: ((uint8_t*)data)[i] = (uint8_t)to_small(value, 5, 2, true); break;
    default: ((uint8_t*)data)[i] = (uint8_t)clamped(value, 0, 255); break;  // e2m1, packed
  }
}

__device__ inline void store_element(int format, uint64_t data, int64_t i, double value) {
  switch (format) {
    case kFloat64: ((double*)data)[i] = value; break;
    case kInt64: ((int64_t*)data)[i] = (int64_t)clamped(value, -9007199254740992.0, 9007199254740992.0); break;
    case kInt32: ((int32_t*)data)[i] = (int32_t)clamped(value, -2147483648.0, 2147483647.0); break;
    case kInt16: ((int16_t*)data)[i] = (int16_t)clamped(value, -32768, 32767); break;
    case kInt8: ((int8_t*)data)[i] = (int8_t)clamped(value, -128, 127); break;
    case kBool: ((uint8_t*)data)[i] = value != 0; break;
    case kE2m1: ((uint8_t*)data)[i] = (uint8_t)clamped(value, 0, 255); break;
    default: store_single(format, data, i, (float)value); break;
  }
}

}  // namespace whet::gpu
