// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "scenario.h"

namespace hopper {

// The judge's measure: an element is at |got - want| / (rtol |want| + atol rms(want)), rms over what is not exactly zero, the tensor's norm error is ||got - want|| / ||want||.
struct Difference {
  double bound = 0, norm = 0, rms = 0;
  long long failing = 0, not_finite = 0, first = -1;  // first: the first element outside the bound
  double got = 0, want = 0;                           // there
  bool passes(double norm_limit) const { return failing == 0 && not_finite == 0 && norm <= norm_limit; }
};

// `want` is float32 on the device, `got` of `type`.
Difference compare(const void* got, Type type, const float* want, long long count, double rtol, double atol);

}  // namespace hopper
