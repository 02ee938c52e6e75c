// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

namespace whet_kernels {

struct Maps {
  CUtensorMap q, k, v;
};

}  // namespace whet_kernels
