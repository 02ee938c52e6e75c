// SPDX-License-Identifier: Apache-2.0
#include "operator.h"

static whet_int32 run(const WhetCall* call, void*) {
  compute(read_args(call));
  return 0;
}

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) {
  static const WhetEntry entries[] = {{"median", nullptr, nullptr, run, nullptr}};
  static const WhetSolution solution = {WHET_ABI_VERSION, 1, entries};
  return &solution;
}
