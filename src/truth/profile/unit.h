// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "record/profile.h"

namespace whet {

// A profiler's figure in base units, whatever it chose for people: {"65.70", "us"} and {"65,700", "ns"} are the same Counter. Times become ns,
// frequencies hz, rates per second ("sector/ns" -> "sector/s"), sizes byte (a Kbyte is 1000). Units that it does not know stay as they are. Of a figure
// with parts, "12 (3; 9)", the whole counts. Nothing for what is no number: "n/a", "PolicySpread", "".
std::optional<Counter> normalised(std::string_view value, std::string_view unit);

}  // namespace whet
