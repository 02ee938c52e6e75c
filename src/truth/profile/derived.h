// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "record/profile.h"

namespace whet {

// Adds the counters "whet__..." that rules use, each where all that it is computed from is there (docs/profiling.md lists the formulas).
void add_derived(LaunchProfile& launch);

// Every counter that add_derived() reads, and that the rules and the roofline read beside them: what is kept of a report, and named when it is missing.
const std::vector<std::string>& counters_of_interest();

// Of those, what ncu's set `full` does not have and must be asked for by name.
const std::vector<std::string>& counters_beyond_full();

}  // namespace whet
