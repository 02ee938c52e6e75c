// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace whet {

double median(std::span<const double> values);    // NaN when empty
double midmean(std::span<const double> values);   // mean of the middle half (interquartile mean); NaN when empty
// Median absolute deviation from the median, times 1.4826: the standard deviation of a normal sample.
double robust_deviation(std::span<const double> values);

struct Interval {
  double value = 0, low = 0, high = 0;
};

// A small deterministic generator for resampling (SplitMix64), so that an interval can be recomputed from the ledger.
class Resampler {
 public:
  explicit Resampler(uint64_t seed) : state_(seed) {}
  uint64_t next();
  std::size_t below(std::size_t n);  // uniform in [0, n)

 private:
  uint64_t state_;
};

// Percentile bootstrap of the midmean of one sample: 95 %.
Interval bootstrap_midmean(std::span<const double> values, uint64_t seed, int resamples = 1000);

// Groups (one per workload) of paired log ratios. The statistic is the mean over groups of each group's midmean, so every workload weighs
// the same: the log of the geomean. Each resample draws within every group. 95 %.
Interval bootstrap_mean_of_midmeans(std::span<const std::vector<double>> groups, uint64_t seed, int resamples = 1000);

}  // namespace whet
