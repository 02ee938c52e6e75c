// SPDX-License-Identifier: Apache-2.0
//
// 2^x on a vector, for x <= 0 or a little above; -inf gives 0. Minimax polynomials (relative error) on [0, 1).
#pragma once

#include "simd.h"

namespace start {

// Relative error 2e-7.
inline vf exp2_float(vf x) {
  const Exp2Parts e = exp2_split(x);
  vf p = vset(0.0018775767f);
  p = vfma(p, e.fraction, vset(0.0089893401f));
  p = vfma(p, e.fraction, vset(0.0558263181f));
  p = vfma(p, e.fraction, vset(0.2401536170f));
  p = vfma(p, e.fraction, vset(0.6931530732f));
  p = vfma(p, e.fraction, vset(0.9999999251f));
  return exp2_scale(p, e.whole);
}

// Relative error 1e-4: enough where the result is rounded to bfloat16 (4e-3).
inline vf exp2_short(vf x) {
  const Exp2Parts e = exp2_split(x);
  vf p = vset(0.0780245227f);
  p = vfma(p, e.fraction, vset(0.2260671554f));
  p = vfma(p, e.fraction, vset(0.6958335405f));
  p = vfma(p, e.fraction, vset(0.9999252186f));
  return exp2_scale(p, e.whole);
}

}  // namespace start
