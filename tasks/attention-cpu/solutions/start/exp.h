// SPDX-License-Identifier: Apache-2.0
//
// 2^x on a vector, for x <= 0 or a little above; -inf gives 0. The polynomials meet 2^x at the Chebyshev points of [-1/2, 1/2].
#pragma once

#include "simd.h"

namespace start {

// Relative error 2e-7.
inline vf exp2_float(vf x) {
  const Exp2Parts e = exp2_split(x);
  vf p = vset(0.0013390863f);
  p = vfma(p, e.fraction, vset(0.0096760319f));
  p = vfma(p, e.fraction, vset(0.0555035711f));
  p = vfma(p, e.fraction, vset(0.2402210749f));
  p = vfma(p, e.fraction, vset(0.6931471880f));
  p = vfma(p, e.fraction, vset(1.0000000755f));
  return exp2_scale(p, e);
}

// Relative error 1e-4: enough where the result is rounded to bfloat16 (4e-3).
inline vf exp2_short(vf x) {
  const Exp2Parts e = exp2_split(x);
  vf p = vset(0.0558382829f);
  p = vfma(p, e.fraction, vset(0.2426394785f));
  p = vfma(p, e.fraction, vset(0.6931367339f));
  p = vfma(p, e.fraction, vset(0.9999245570f));
  return exp2_scale(p, e);
}

}  // namespace start
