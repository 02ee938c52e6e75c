// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "record/task.h"
#include "score/ratio.h"
#include "truth/judge/contestant.h"
#include "truth/judge/stopwatch.h"

namespace whet {

// The least time of a turn in which nothing is called: what the worker's own waiting and waking cost, in nanoseconds.
Expected<double> measure_empty_turn(Contestant& contestant);

// A measured time less that of an empty turn, but never less than half of it: an empty turn that was measured in a bad moment must not make a
// short call disappear.
double net_time(double ns, double empty_turn_ns);

// A dozen pairs of six workloads cannot tell what hits all workloads alike from nothing.
constexpr double kLeastNoise = kSharedNoise, kMostNoise = 0.05;
// Between two events on a device there is no scheduler and no placing of threads. By reasoning, and not confirmed by an A/A yet: bench/aa is for that.
constexpr double kLeastNoiseOfDevice = 0.002;

struct NoiseFloorParts {
  Memory* memory = nullptr;
  std::vector<std::pair<const Definition*, const Workload*>> workloads;  // a few of them, evenly spread, are used
  std::unique_ptr<Contestant> first, second;                             // two processes of one program
  double empty_turn_ns = 0;
  std::string secret;
};

// A/A: how far apart two processes of one program come out on this machine, as a standard deviation of ln(ratio), from kLeastNoise to kMostNoise.
double measure_noise(NoiseFloorParts& parts, Stopwatch& clock);

// The same from ln(second / first) of the pairs of each workload; those with fewer than six say nothing. The variance between processes by the method
// of moments (DerSimonian and Laird 1986): what the centers of the workloads scatter more than the few pairs of each would make them scatter anyway.
// That part is in every judgement's own interval.
double noise_between(const std::vector<std::vector<double>>& workloads, double least = kLeastNoise);

}  // namespace whet
