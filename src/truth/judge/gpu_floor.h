// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/dtype.h"
#include "truth/gpu/gpu_facts.h"

namespace whet {

// The time below which no correct Solution can be on this GPU, by what its clocks and units could do at best: bytes over the memory's pins, operations
// (a multiply-add is two) over the matrix units of that dtype at the highest clock. Generous, since no machine reaches either. 0 where nothing is known.
double gpu_floor_ns(const GpuFacts& gpu, double bytes, double flops, Dtype dtype);

}  // namespace whet
