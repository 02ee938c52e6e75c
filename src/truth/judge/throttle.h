// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace whet {

// Whether the calls of one draw can be compared, by the clocks of the GPU that each met (MHz; 0: not known, and no reason for anything). Like is compared with
// like: clocks that fall under load fall for everyone who works, so what counts is that the calls of a draw met the same clock, and not one far below
// that of the calls before. Returns why they cannot, empty if they can.
std::string clocks_apart(const std::vector<double>& of_draw, const std::vector<double>& before);

inline constexpr double kClocksApart = 0.05;   // within a draw, as a share of the higher one
inline constexpr double kClocksBelow = 0.10;   // below the median of the calls before
inline constexpr size_t kLeastClocks = 6;      // fewer calls before say nothing

}  // namespace whet
