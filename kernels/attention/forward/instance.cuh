// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>

#include "forward/instance.h"
#include "forward/kernel.cuh"

namespace whet_kernels {

template <class C>
Instance instance_of(const char* name) {
  return {name,      std::is_same<typename C::T, __half>::value ? 1 : 0, C::kD, C::kDv, C::kSoftcap, C::kRows, C::kKeys, C::kStages, C::kColumns, C::kConsumers, C::kCtas,
          reinterpret_cast<const void*>(&attend<C>), C::kThreads, C::kSharedBytes};
}

}  // namespace whet_kernels
