// SPDX-License-Identifier: Apache-2.0
#include "score/ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace whet {

std::vector<double> paired_log_ratios(const Trial& candidate, const Trial& baseline, Column column) {
  std::vector<double> logs;
  const auto ours = candidate.samples.find(column), theirs = baseline.samples.find(column);
  if (ours == candidate.samples.end() || theirs == baseline.samples.end()) return logs;
  std::map<int, double> by_draw;
  for (const Sample& sample : theirs->second)
    if (sample.discarded.empty()) by_draw[sample.draw] = sample.ns;
  for (const Sample& sample : ours->second) {
    const auto other = by_draw.find(sample.draw);
    if (sample.discarded.empty() && other != by_draw.end() && sample.ns > 0 && other->second > 0) logs.push_back(std::log(other->second / sample.ns));
  }
  return logs;
}

Ratio ratio_from_log(const Interval& log, double noise_floor) {
  const double noise = 1.96 * noise_floor, down = std::hypot(log.value - log.low, noise), up = std::hypot(log.high - log.value, noise);
  return {std::exp(log.value), std::exp(log.value - down), std::exp(log.value + up)};
}

double noise_of_geomean(double noise_floor, std::size_t workloads) {
  const double shared = std::min(noise_floor, kSharedNoise), own = noise_floor * noise_floor - shared * shared;
  return std::sqrt(shared * shared + own / static_cast<double>(std::max<std::size_t>(1, workloads)));
}

Ratio ratio_of(const Trial& candidate, const Trial& baseline, Column column, double noise_floor, uint64_t seed) {
  return ratio_from_log(bootstrap_midmean(paired_log_ratios(candidate, baseline, column), seed), noise_floor);
}

std::string fastest_baseline(const WorkloadResult& result, Column column) {
  std::string name;
  double best = std::numeric_limits<double>::infinity();
  for (const Trial& trial : result.trials) {
    if (trial.role != "baseline" || !trial.verdict.correct()) continue;
    const double ns = trial.median_ns(column);
    if (ns < best) best = ns, name = trial.solution;
  }
  return name;
}

}  // namespace whet
