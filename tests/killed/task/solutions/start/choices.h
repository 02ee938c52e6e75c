// SPDX-License-Identifier: Apache-2.0
// How often the work is done, and in how many parts: an honest Solution with much to gain.
#pragma once

inline constexpr int kTimes = 6;  // whet:tune {1, 2, 3, 4, 5, 6} family=all
inline constexpr int kParts = 1;  // whet:tune {1, 2} family=all
