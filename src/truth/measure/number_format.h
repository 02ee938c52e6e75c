// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "record/dtype.h"

namespace whet {

inline float float_from_bfloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

// Round to nearest, ties to even; NaN stays NaN.
inline uint16_t bfloat16_from_float(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>(bits >> 16);
}

// Decodes a small format with `exponent` exponent bits and `mantissa` mantissa bits (sign on top). `ieee` formats have infinities in the top
// exponent; e4m3fn has none and only the all-ones pattern is NaN.
inline float float_from_small(uint32_t bits, int exponent, int mantissa, bool ieee) {
  const uint32_t sign = (bits >> (exponent + mantissa)) & 1u;
  const uint32_t exponent_bits = (bits >> mantissa) & ((1u << exponent) - 1u);
  const uint32_t mantissa_bits = bits & ((1u << mantissa) - 1u);
  const uint32_t top = (1u << exponent) - 1u;
  const int bias = (1 << (exponent - 1)) - 1;
  float value;
  if (ieee && exponent_bits == top) {
    value = mantissa_bits ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity();
  } else if (!ieee && exponent == 4 && exponent_bits == top && mantissa_bits == (1u << mantissa) - 1u) {
    value = std::numeric_limits<float>::quiet_NaN();
  } else if (exponent_bits == 0) {
    value = std::ldexp(static_cast<float>(mantissa_bits), 1 - bias - mantissa);
  } else {
    value = std::ldexp(static_cast<float>(mantissa_bits | (1u << mantissa)), static_cast<int>(exponent_bits) - bias - mantissa);
  }
  return sign ? -value : value;
}

// Rounds to a format with `mantissa` mantissa bits and the given exponent range: nearest, ties to even, subnormals kept, overflow to infinity
// (or to the largest value where the format has none). Returns the bits.
inline uint32_t small_from_float(float value, int exponent, int mantissa, bool ieee) {
  const uint32_t sign = std::signbit(value) ? 1u << (exponent + mantissa) : 0u;
  const uint32_t top = (1u << exponent) - 1u;
  const int bias = (1 << (exponent - 1)) - 1;
  if (std::isnan(value)) return sign | (top << mantissa) | ((1u << mantissa) - 1u);
  const float magnitude = std::fabs(value);
  const uint32_t largest = ieee ? ((top - 1) << mantissa) | ((1u << mantissa) - 1u) : exponent == 4 ? (top << mantissa) | ((1u << mantissa) - 2u)
                                                                                                    : (top << mantissa) | ((1u << mantissa) - 1u);
  const uint32_t infinity = ieee ? top << mantissa : largest;
  if (std::isinf(value)) return sign | infinity;
  if (magnitude == 0) return sign;
  int power = std::ilogb(magnitude);
  if (power < 1 - bias) power = 1 - bias;
  const float scaled = std::nearbyint(std::ldexp(magnitude, mantissa - power));  // the default rounding mode: nearest even
  uint32_t integer = static_cast<uint32_t>(scaled);
  uint32_t exponent_bits = static_cast<uint32_t>(power + bias);
  if (integer < (1u << mantissa)) exponent_bits = 0;  // subnormal
  uint32_t bits = exponent_bits == 0 ? integer : (exponent_bits << mantissa) + (integer - (1u << mantissa));
  if (bits > largest) bits = infinity;
  return sign | bits;
}

// One element of any format as a double, and back (round to nearest even; integers are rounded and clamped).
inline double load_element(Dtype dtype, const void* data, int64_t index) {
  switch (dtype) {
    case Dtype::float64: return static_cast<const double*>(data)[index];
    case Dtype::float32: return static_cast<const float*>(data)[index];
    case Dtype::float16: return float_from_small(static_cast<const uint16_t*>(data)[index], 5, 10, true);
    case Dtype::bfloat16: return float_from_bfloat16(static_cast<const uint16_t*>(data)[index]);
    case Dtype::float8_e4m3fn: return float_from_small(static_cast<const uint8_t*>(data)[index], 4, 3, false);
    case Dtype::float8_e5m2: return float_from_small(static_cast<const uint8_t*>(data)[index], 5, 2, true);
    case Dtype::float4_e2m1: return static_cast<const uint8_t*>(data)[index];
    case Dtype::int64: return static_cast<double>(static_cast<const int64_t*>(data)[index]);
    case Dtype::int32: return static_cast<const int32_t*>(data)[index];
    case Dtype::int16: return static_cast<const int16_t*>(data)[index];
    case Dtype::int8: return static_cast<const int8_t*>(data)[index];
    case Dtype::boolean: return static_cast<const uint8_t*>(data)[index];
  }
  return 0;
}

inline void store_element(Dtype dtype, void* data, int64_t index, double value) {
  const auto clamped = [value](double low, double high) { return std::fmin(std::fmax(std::nearbyint(value), low), high); };
  switch (dtype) {
    case Dtype::float64: static_cast<double*>(data)[index] = value; break;
    case Dtype::float32: static_cast<float*>(data)[index] = static_cast<float>(value); break;
    case Dtype::float16: static_cast<uint16_t*>(data)[index] = static_cast<uint16_t>(small_from_float(static_cast<float>(value), 5, 10, true)); break;
    case Dtype::bfloat16: static_cast<uint16_t*>(data)[index] = bfloat16_from_float(static_cast<float>(value)); break;
    case Dtype::float8_e4m3fn: static_cast<uint8_t*>(data)[index] = static_cast<uint8_t>(small_from_float(static_cast<float>(value), 4, 3, false)); break;
    case Dtype::float8_e5m2: static_cast<uint8_t*>(data)[index] = static_cast<uint8_t>(small_from_float(static_cast<float>(value), 5, 2, true)); break;
    case Dtype::float4_e2m1: static_cast<uint8_t*>(data)[index] = static_cast<uint8_t>(clamped(0, 255)); break;
    case Dtype::int64: static_cast<int64_t*>(data)[index] = static_cast<int64_t>(clamped(-9007199254740992.0, 9007199254740992.0)); break;
    case Dtype::int32: static_cast<int32_t*>(data)[index] = static_cast<int32_t>(clamped(-2147483648.0, 2147483647.0)); break;
    case Dtype::int16: static_cast<int16_t*>(data)[index] = static_cast<int16_t>(clamped(-32768, 32767)); break;
    case Dtype::int8: static_cast<int8_t*>(data)[index] = static_cast<int8_t>(clamped(-128, 127)); break;
    case Dtype::boolean: static_cast<uint8_t*>(data)[index] = value != 0; break;
  }
}

// The bits of an element (up to 32), for tables.
inline uint32_t bits_of(Dtype dtype, float value) {
  uint32_t bits = 0;
  alignas(8) unsigned char raw[8] = {};
  store_element(dtype, raw, 0, value);
  std::memcpy(&bits, raw, 4);
  return size_of(dtype) >= 4 ? bits : bits & ((1u << (8 * size_of(dtype))) - 1u);
}

}  // namespace whet
