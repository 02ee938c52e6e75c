// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace whet {

// Element types under FlashInfer Trace's names. `float4_e2m1` counts packed bytes (two values a byte), as FlashInfer-Bench does.
enum class Dtype { float64, float32, float16, bfloat16, float8_e4m3fn, float8_e5m2, float4_e2m1, int64, int32, int16, int8, boolean };

std::string_view name_of(Dtype dtype);                    // "bfloat16"; boolean is "bool"
std::optional<Dtype> dtype_from_name(std::string_view name);
int64_t size_of(Dtype dtype);                             // bytes per element
bool is_float(Dtype dtype);

// What the reference writes where a Definition declares `dtype` for an output: float32 for floats of up to 32 bits, so that expected
// values are not rounded to the storage format; float64 for float64; integers and bool unchanged.
Dtype reference_dtype(Dtype dtype);

}  // namespace whet
