// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/surrogate.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace whet {
namespace {

constexpr double kKnee = 0.25;           // nats; beyond this above the best, costs are compressed
constexpr double kNugget = 1e-4;         // of the scale: what the kernel cannot express
constexpr double kShortest = 0.08, kLongest = 30;

constexpr double kLengthSpread = 1.3;    // of ln(length) around what its factor's importance lets expect

double expected_length(const Factor& factor) { return factor.importance == 2 ? 0.7 : factor.importance == 1 ? 1.0 : 1.5; }

double compress(double above_best) { return kKnee * std::log1p(above_best / kKnee); }

double normal_density(double x) { return 0.3989422804014327 * std::exp(-0.5 * x * x); }
double normal_cumulative(double x) { return 0.5 * std::erfc(-x * 0.7071067811865476); }

// x <- L^-1 x
void solve_lower(const std::vector<double>& lower, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = 0; i < n; ++i) {
    double sum = x[i];
    const double* row = &lower[i * n];
    for (std::size_t j = 0; j < i; ++j) sum -= row[j] * x[j];
    x[i] = sum / row[i];
  }
}

// x <- L^-T x
void solve_upper(const std::vector<double>& lower, std::vector<double>& x) {
  const std::size_t n = x.size();
  for (std::size_t i = n; i-- > 0;) {
    x[i] /= lower[i * n + i];
    for (std::size_t j = 0; j < i; ++j) x[j] -= lower[i * n + j] * x[i];
  }
}

}  // namespace

Surrogate::Surrogate(const std::vector<Factor>& factors, const std::vector<Observation>& data) : factors_(factors) {
  assert(!data.empty());
  for (const Factor& factor : factors_) lengths_.push_back(expected_length(factor));
  double best = std::numeric_limits<double>::infinity();
  for (const Observation& one : data) best = std::min(best, one.log_cost);
  for (const Observation& one : data) {
    points_.push_back(one.point);
    y_.push_back(compress(one.log_cost - best));
    const double slope = kKnee / (kKnee + one.log_cost - best);
    noise_.push_back(one.deviation * slope * one.deviation * slope);
  }
  learn_gates(data);
  for (Point& point : points_) point = without_idle(std::move(point));
  fit();
  incumbent_ = std::numeric_limits<double>::infinity();
  for (const Point& point : points_) incumbent_ = std::min(incumbent_, predict(point).mean);
}

void Surrogate::learn_gates(const std::vector<Observation>& data) {
  for (std::size_t f = 0; f < factors_.size(); ++f)
    if (factors_[f].importance == 2) gate_ = static_cast<int>(f);
  if (gate_ < 0) return;
  const auto gate = static_cast<std::size_t>(gate_);
  idle_.assign(static_cast<std::size_t>(factors_[gate].size), std::vector<char>(factors_.size(), 0));
  std::vector<std::vector<int>> agree(idle_.size(), std::vector<int>(factors_.size(), 0)), differ = agree;
  for (std::size_t i = 0; i < data.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      std::size_t differing = 0, which = 0;
      for (std::size_t f = 0; f < factors_.size(); ++f)
        if (data[i].point[f] != data[j].point[f]) ++differing, which = f;
      if (differing != 1 || which == gate) continue;
      const double noise = std::hypot(data[i].deviation, data[j].deviation);
      const bool same = std::abs(data[i].log_cost - data[j].log_cost) < std::max(3 * noise, 0.01);
      ++(same ? agree : differ)[static_cast<std::size_t>(data[i].point[gate])][which];
    }
  for (std::size_t c = 0; c < idle_.size(); ++c)
    for (std::size_t f = 0; f < factors_.size(); ++f) idle_[c][f] = differ[c][f] == 0 && agree[c][f] >= std::max(1, factors_[f].size / 2);
}

void Surrogate::tabulate() {
  table_.resize(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    const auto size = static_cast<std::size_t>(factors_[f].size);
    table_[f].assign(size * size, 1);
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = 0; b < size; ++b) {
        if (a == b) continue;
        const double distance = factors_[f].levels.empty() ? 1 : std::abs(factors_[f].levels[a] - factors_[f].levels[b]);
        table_[f][a * size + b] = std::exp(-distance * std::sqrt(distance) / lengths_[f]);
      }
  }
}

double Surrogate::kernel(const Point& a, const Point& b) const {
  double product = 1;
  for (std::size_t f = 0; f < factors_.size(); ++f) product *= table_[f][static_cast<std::size_t>(a[f] * factors_[f].size + b[f])];
  return product;
}

Point Surrogate::without_idle(Point point) const {
  if (gate_ < 0) return point;
  const std::vector<char>& idle = idle_[static_cast<std::size_t>(point[static_cast<std::size_t>(gate_)])];
  for (std::size_t f = 0; f < factors_.size(); ++f)
    if (idle[f]) point[f] = 0;
  return point;
}

double Surrogate::factorise() {
  tabulate();
  const std::size_t n = points_.size();
  lower_.assign(n * n, 0);
  // The noise is known in units of the cost, the kernel in units of the scale.
  double log_determinant = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = i == j ? 1 + kNugget + noise_[i] / scale_ : kernel(points_[i], points_[j]);
      for (std::size_t k = 0; k < j; ++k) sum -= lower_[i * n + k] * lower_[j * n + k];
      if (i != j) {
        lower_[i * n + j] = sum / lower_[j * n + j];
        continue;
      }
      lower_[i * n + i] = std::sqrt(std::max(sum, 1e-9));
      log_determinant += 2 * std::log(lower_[i * n + i]);
    }
  std::vector<double> ones(n, 1), y = y_;
  solve_lower(lower_, ones);
  solve_lower(lower_, y);
  double top = 0, bottom = 0;
  for (std::size_t i = 0; i < n; ++i) top += ones[i] * y[i], bottom += ones[i] * ones[i];
  mean_ = top / bottom;
  double quadratic = 0;
  for (std::size_t i = 0; i < n; ++i) {
    y[i] -= mean_ * ones[i];
    quadratic += y[i] * y[i];
  }
  alpha_ = std::move(y);
  solve_upper(lower_, alpha_);
  const double count = static_cast<double>(n);
  // A prior on the lengths keeps few data from switching factors off or on altogether.
  double prior = 0;
  for (std::size_t f = 0; f < lengths_.size(); ++f) {
    const double off = std::log(lengths_[f] / expected_length(factors_[f])) / kLengthSpread;
    prior += 0.5 * off * off;
  }
  return -0.5 * quadratic / scale_ - 0.5 * count * std::log(scale_) - 0.5 * log_determinant - prior;
}

void Surrogate::fit() {
  double mean = 0, spread = 0;
  for (double y : y_) mean += y / static_cast<double>(y_.size());
  for (double y : y_) spread += (y - mean) * (y - mean) / static_cast<double>(y_.size());
  scale_ = std::max(spread, 1e-4);
  double likelihood = factorise();
  if (points_.size() < 4) return;
  const auto try_value = [&](double& parameter, double value) {
    const double before = parameter;
    parameter = value;
    const double with = factorise();
    if (with > likelihood + 1e-9) {
      likelihood = with;
      return true;
    }
    parameter = before;
    return false;
  };
  for (double factor : {2.0, 2.0, 1.4})
    for (std::size_t f = 0; f <= lengths_.size(); ++f) {
      double& parameter = f == lengths_.size() ? scale_ : lengths_[f];
      const double low = f == lengths_.size() ? 1e-5 : kShortest, high = f == lengths_.size() ? 10 : kLongest;
      if (!try_value(parameter, std::min(parameter * factor, high))) try_value(parameter, std::max(parameter / factor, low));
    }
  factorise();
}

Surrogate::Prediction Surrogate::predict(const Point& raw) const {
  const Point point = without_idle(raw);
  const std::size_t n = points_.size();
  std::vector<double> k(n);
  double mean = mean_;
  for (std::size_t i = 0; i < n; ++i) {
    k[i] = kernel(point, points_[i]);
    mean += k[i] * alpha_[i];
  }
  solve_lower(lower_, k);
  double variance = 1 + kNugget;
  for (double v : k) variance -= v * v;
  return {mean, std::sqrt(std::max(variance, 1e-10) * scale_)};
}

double Surrogate::expected_improvement(const Prediction& predicted) const {
  const double gain = incumbent_ - predicted.mean;
  const double z = gain / predicted.deviation;
  return gain * normal_cumulative(z) + predicted.deviation * normal_density(z);
}

}  // namespace whet
