// SPDX-License-Identifier: Apache-2.0
#include "record/dtype.h"

#include <array>

namespace whet {
namespace {

struct Row {
  Dtype dtype;
  std::string_view name;
  int64_t bytes;
  bool is_float;
};
constexpr std::array<Row, 12> kRows = {{
    {Dtype::float64, "float64", 8, true},
    {Dtype::float32, "float32", 4, true},
    {Dtype::float16, "float16", 2, true},
    {Dtype::bfloat16, "bfloat16", 2, true},
    {Dtype::float8_e4m3fn, "float8_e4m3fn", 1, true},
    {Dtype::float8_e5m2, "float8_e5m2", 1, true},
    {Dtype::float4_e2m1, "float4_e2m1", 1, true},
    {Dtype::int64, "int64", 8, false},
    {Dtype::int32, "int32", 4, false},
    {Dtype::int16, "int16", 2, false},
    {Dtype::int8, "int8", 1, false},
    {Dtype::boolean, "bool", 1, false},
}};
const Row& row(Dtype dtype) { return kRows[static_cast<std::size_t>(dtype)]; }

}  // namespace

std::string_view name_of(Dtype dtype) { return row(dtype).name; }

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (const Row& candidate : kRows)
    if (candidate.name == name) return candidate.dtype;
  return std::nullopt;
}

int64_t size_of(Dtype dtype) { return row(dtype).bytes; }
bool is_float(Dtype dtype) { return row(dtype).is_float; }

Dtype reference_dtype(Dtype dtype) {
  if (dtype == Dtype::float64 || !is_float(dtype)) return dtype;
  return Dtype::float32;
}

}  // namespace whet
