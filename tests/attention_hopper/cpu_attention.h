// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario.h"

namespace hopper {

// The scenario's output in float64 on the CPU, by the text of the Definition and by tensor names alone: it shares no code with any Solution.
// For small shapes.
std::vector<float> attention_on_cpu(const Scenario& scenario);

}  // namespace hopper
