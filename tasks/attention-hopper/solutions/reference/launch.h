// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "problem.h"

namespace attention {

// Enqueues the whole of a call; null, or what is wrong. `stream` is a cudaStream_t.
const char* launch_f32(const Problem& p, void* stream);
const char* launch_f64(const Problem& p, void* stream);

}  // namespace attention
