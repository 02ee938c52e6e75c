// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/dlpack.h"

#include <algorithm>
#include <cmath>

#include "whet/candidate.h"

namespace whet {
namespace {

uint8_t code_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::bfloat16: return WHET_DTYPE_BFLOAT;
    case Dtype::float8_e4m3fn: return WHET_DTYPE_FLOAT8_E4M3FN;
    case Dtype::float8_e5m2: return WHET_DTYPE_FLOAT8_E5M2;
    case Dtype::float4_e2m1: return WHET_DTYPE_FLOAT4_E2M1FN;
    case Dtype::boolean: return WHET_DTYPE_BOOL;
    case Dtype::float64:
    case Dtype::float32:
    case Dtype::float16: return WHET_DTYPE_FLOAT;
    default: return WHET_DTYPE_INT;
  }
}

}  // namespace

runner::WireTensor wire_tensor(Dtype dtype, const std::vector<int64_t>& shape, bool prepared) {
  runner::WireTensor wire;
  wire.ndim = static_cast<int32_t>(std::min<size_t>(shape.size(), std::size(wire.shape)));
  std::copy_n(shape.begin(), wire.ndim, wire.shape);
  wire.dtype_code = code_of(dtype);
  wire.dtype_bits = static_cast<uint8_t>(8 * size_of(dtype));
  wire.prepared = prepared;
  return wire;
}

runner::WireScalar wire_scalar(Dtype dtype, const InputSource& source) {
  runner::WireScalar wire;
  const double value = std::visit([](auto scalar) { return static_cast<double>(scalar); }, source.scalar);
  wire.f = value;
  wire.i = std::holds_alternative<int64_t>(source.scalar) ? std::get<int64_t>(source.scalar) : static_cast<int64_t>(std::llround(value));
  wire.kind = dtype == Dtype::boolean ? WHET_SCALAR_BOOL : is_float(dtype) ? WHET_SCALAR_FLOAT : WHET_SCALAR_INT;
  return wire;
}

}  // namespace whet
