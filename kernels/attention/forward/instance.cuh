// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "forward/instance.h"
#include "forward/kernel.cuh"

namespace whet_kernels {

template <class C>
Instance instance_of(const char* name) {
  Instance i = {};
  i.name = name;
  i.q_type = C::kKv == Kv::eight ? 2 : std::is_same<typename C::T, __half>::value ? 1 : 0;
  i.kv_type = C::kConvertV ? 2 : i.q_type;
  i.latent = C::kLatent;
  i.softcap = C::kSoftcap;
  i.d = C::kD;
  i.dv = C::kDv;
  i.rows = C::kRows;
  i.keys = C::kKeys;
  i.stages = C::kStages;
  i.row_bytes = C::kRowBytes;
  i.row_bytes_v = C::kRowBytesV;
  i.plain_k = C::kConvertK;
  i.plain_v = C::kConvertV;
  i.consumers = C::kConsumers;
  i.ctas = C::kCtas;
  i.kernel = reinterpret_cast<const void*>(&attend<C>);
  i.threads = C::kThreads;
  i.shared_bytes = C::kSharedBytes;
  return i;
}

}  // namespace whet_kernels
