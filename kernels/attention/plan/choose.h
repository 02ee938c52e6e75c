// SPDX-License-Identifier: Apache-2.0
//
// Which instance and which tiling a shape gets, or what is missing for it.
#pragma once

#include <string>

#include "forward/instance.h"
#include "plan/schedule.h"

namespace whet_kernels {

struct Choice {
  std::string missing;  // empty: the rest is valid
  Instance instance = {};
  Tiling tiling = {};
};
Choice choose(const WhetAttentionShape& shape, int multiprocessors);

}  // namespace whet_kernels
