// SPDX-License-Identifier: Apache-2.0
//
// What the tuner may change without understanding the code: one line a choice, its range beside it.
#pragma once

inline constexpr int kThreads = 1;  // whet:tune {1, 2} family=rmsnorm
inline constexpr int kPath = 0;     // whet:tune {0, 1} family=rmsnorm
