// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "record/evaluation.h"
#include "record/scoreboard.h"
#include "stats/summary.h"

namespace whet {

// ln(baseline time / candidate time) for every draw of which both samples were used: the two saw the same inputs, one after the other.
std::vector<double> paired_log_ratios(const Trial& candidate, const Trial& baseline, Column column);

// exp() of a 95 % interval of ln(ratio), widened in quadrature by that of the noise floor (a standard deviation): what two processes of one program
// differ by on this machine is not evidence.
Ratio ratio_from_log(const Interval& log, double noise_floor);

// Of the noise floor, what hits all workloads of a process alike; the rest is drawn anew with the memory of each workload, and averages out. (A hundred
// geomeans over five workloads of a program against itself scattered by 0.55 %, whatever the floor of one workload was in that session.)
inline constexpr double kSharedNoise = 0.006;
double noise_of_geomean(double noise_floor, std::size_t workloads);

// The ratio of two trials. Its bootstrap is seeded by `seed`, so it can be recomputed from the ledger. All NaN when there is no pair.
Ratio ratio_of(const Trial& candidate, const Trial& baseline, Column column, double noise_floor, uint64_t seed);

// The baseline with the smallest median among those that are right; empty when there is none.
std::string fastest_baseline(const WorkloadResult& result, Column column);

}  // namespace whet
