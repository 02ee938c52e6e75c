// SPDX-License-Identifier: Apache-2.0
// The reference that examination_test.cc examines: o[rows, columns] = alpha x[rows, inner] y[inner, columns]; `hint` says nothing. Its twin NAME.f64 computes
// TWIN_FACTOR times that, and is not there where TWIN_FACTOR is 0.
#include "whet/candidate.h"

#ifndef TWIN_FACTOR
#define TWIN_FACTOR 1.0
#endif

namespace {

whet_int32 product(const WhetCall* call, double factor) {
  const whet_int64 rows = call->axes[0], inner = call->axes[1], columns = call->axes[2];
  const auto *x = static_cast<const float*>(call->tensors[0].data), *y = static_cast<const float*>(call->tensors[1].data);
  auto* o = static_cast<float*>(call->tensors[2].data);
  for (whet_int64 row = 0; row < rows; ++row)
    for (whet_int64 column = 0; column < columns; ++column) {
      double sum = 0;
      for (whet_int64 i = 0; i < inner; ++i) sum += double{x[row * inner + i]} * y[i * columns + column];
      o[row * columns + column] = static_cast<float>(factor * call->scalars[0].f * sum);
    }
  return 0;
}

whet_int32 run(const WhetCall* call, void*) { return product(call, 1); }
whet_int32 run_twin(const WhetCall* call, void*) { return product(call, TWIN_FACTOR); }

constexpr WhetEntry kEntries[] = {{"product", nullptr, nullptr, run, nullptr}, {"product.f64", nullptr, nullptr, run_twin, nullptr}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, TWIN_FACTOR == 0 ? 1 : 2, kEntries};

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &kSolution; }
