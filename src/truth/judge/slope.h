// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "record/request.h"
#include "truth/judge/contestant.h"
#include "truth/judge/stopwatch.h"

namespace whet {

// The worker's own view of a time that another process measured: how much longer twice as many calls take, (T(2N) - T(N)) / N, one call after the other
// without a blocker, on sets of inputs and outputs of their own and contents that no call had before; every output is checked. Work that runs beside the
// call's stream, and so outside the runner's two events, is in it. The clock stops when the worker has itself read the outputs, at places that nobody
// knows; they still hold the same when all of them have been compared, so that nothing can be left for later.
//
// Where 3 N sets do not fill the last cache four times over, the calls find it warm, and are held to less than they claim. There the same is done once more with a
// flush before each call, and what as many flushes take alone is subtracted. The larger of the two counts.
struct SlopeParts {
  const Definition& definition;
  const Workload& workload;
  Inputs& inputs;
  Contestant& reference;
  Contestant& solution;
  double claimed_ns = 0;  // how many repetitions are worth it
  uint64_t salt = 0;      // of samples of the outputs: nobody else knows it
  Stopwatch& stopwatch;
};

struct Slope {
  Verdict verdict{Code::correct, "", ""};
  double ns = -1;       // per call; negative: not measured
  double cold_ns = -1;  // with flushes in between; negative: not needed
};

Slope measure_slope(const SlopeParts& parts);

// What a slope says of the time that was claimed; both, and the time that the host spent in run(), in nanoseconds. A cold slope is a difference of differences:
// it is allowed twice as much.
enum class Belief {
  agrees,      // within 5 % or 2 us (cold: 4 us), and the gap between two launches
  host_bound,  // longer, but no longer than the host took: then the slope is the time
  refuted,     // longer than either
};
Belief believe(double claimed_ns, double host_ns, double slope_ns, double cold_slope_ns = -1);

}  // namespace whet
