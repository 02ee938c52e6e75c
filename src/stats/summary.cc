// SPDX-License-Identifier: Apache-2.0
#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace whet {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double midmean_of_sorted(const std::vector<double>& sorted) {
  // Weighted ends, so that n = 4k + r still averages exactly the middle half of the mass.
  const double n = static_cast<double>(sorted.size());
  const double low = n / 4, high = 3 * n / 4;
  double sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double begin = static_cast<double>(i), end = begin + 1;
    const double weight = std::min(end, high) - std::max(begin, low);
    if (weight > 0) sum += weight * sorted[i];
  }
  return sum / (high - low);
}

double percentile_of_sorted(const std::vector<double>& sorted, double fraction) {
  const double at = fraction * static_cast<double>(sorted.size() - 1);
  const auto index = static_cast<std::size_t>(at);
  if (index + 1 >= sorted.size()) return sorted.back();
  const double part = at - static_cast<double>(index);
  return sorted[index] * (1 - part) + sorted[index + 1] * part;
}

Interval interval_of(double value, std::vector<double>& resampled) {
  std::sort(resampled.begin(), resampled.end());
  return {value, percentile_of_sorted(resampled, 0.025), percentile_of_sorted(resampled, 0.975)};
}

}  // namespace

double median(std::span<const double> values) {
  if (values.empty()) return kNaN;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return percentile_of_sorted(sorted, 0.5);
}

double midmean(std::span<const double> values) {
  if (values.empty()) return kNaN;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return midmean_of_sorted(sorted);
}

double robust_deviation(std::span<const double> values) {
  const double center = median(values);
  std::vector<double> distances;
  for (double value : values) distances.push_back(std::abs(value - center));
  return 1.4826 * median(distances);
}

uint64_t Resampler::next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::size_t Resampler::below(std::size_t n) {
  return static_cast<std::size_t>(((next() >> 32) * n) >> 32);  // n is a number of samples: far below 2^32
}

Interval bootstrap_midmean(std::span<const double> values, uint64_t seed, int resamples) {
  const std::vector<double> group(values.begin(), values.end());
  return bootstrap_mean_of_midmeans({&group, 1}, seed, resamples);
}

Interval bootstrap_mean_of_midmeans(std::span<const std::vector<double>> groups, uint64_t seed, int resamples) {
  if (groups.empty()) return {kNaN, kNaN, kNaN};
  Resampler random(seed);
  std::vector<double> resampled(static_cast<std::size_t>(resamples), 0.0);
  double value = 0;
  std::vector<double> draw;
  for (const auto& group : groups) {
    if (group.empty()) return {kNaN, kNaN, kNaN};
    value += midmean(group) / static_cast<double>(groups.size());
    for (double& sum : resampled) {
      draw.clear();
      for (std::size_t i = 0; i < group.size(); ++i) draw.push_back(group[random.below(group.size())]);
      std::sort(draw.begin(), draw.end());
      sum += midmean_of_sorted(draw) / static_cast<double>(groups.size());
    }
  }
  return interval_of(value, resampled);
}

}  // namespace whet
