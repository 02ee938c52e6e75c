// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/request.h"
#include "truth/judge/contestant.h"
#include "truth/judge/stopwatch.h"

namespace whet {

// The worker's own view of a time that another process measured: how much longer twice as many calls take, (T(2N) - T(N)) / N, one call after the other
// without a blocker, on sets of inputs and outputs of their own and contents that no call had before; every output is checked. Work that runs beside the
// call's stream, and so outside the runner's two events, is in it.
struct SlopeParts {
  const Definition& definition;
  const Workload& workload;
  Inputs& inputs;
  Contestant& reference;
  Contestant& solution;
  double claimed_ns = 0;  // how many repetitions are worth it
  Stopwatch& stopwatch;
};

struct Slope {
  Verdict verdict{Code::correct, "", ""};
  double ns = -1;  // per call; negative: not measured
};

Slope measure_slope(const SlopeParts& parts);

// What a slope says of the time that was claimed; both, and the time that the host spent in run(), in nanoseconds.
enum class Belief {
  agrees,      // within 5 % or 2 us, and the gap between two launches
  host_bound,  // longer, but no longer than the host took: then the slope is the time
  refuted,     // longer than either
};
Belief believe(double claimed_ns, double host_ns, double slope_ns);

}  // namespace whet
