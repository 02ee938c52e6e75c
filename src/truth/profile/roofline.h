// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/profile.h"

namespace whet {

// What the worker measured of this device, by resource: "dram" in byte/s; "tensor bf16", "tensor fp16", "tensor fp8", "tensor tf32", "f32" in flop/s.
using MeasuredCeilings = std::map<std::string, double>;

// What the launch achieved of every resource that it used, against the measured ceiling where there is one, else against the profiler's own peak: bytes a
// cycle and operations a cycle times the clock of this run. A multiply-add counts two. Resources whose counters are missing are left out.
std::vector<RooflinePart> roofline_of(const LaunchProfile& launch, const MeasuredCeilings& measured);

}  // namespace whet
