// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "direction/agent/optimiser.h"

namespace whet {

struct Observation {
  Point point;
  double log_cost = 0;
  double deviation = 0;
};

// A Gaussian process over a product of discrete factors. The cost is measured in nats above the best and compressed, so that what happens near the
// best weighs more than whether a hopeless point is ten or twenty times slower.
//
// Kernel: prod_f exp(-d_f^1.5 / length_f), where d_f is the distance of levels, or 0 and 1 for categories. A factor that was seen to change nothing
// under a category (all pairs that differ in it alone agree within their noise) is taken to have its first value there.
class Surrogate {
 public:
  // `data` is not empty; `factors` outlives it.
  Surrogate(const std::vector<Factor>& factors, const std::vector<Observation>& data);

  struct Prediction {
    double mean = 0, deviation = 0;  // of the compressed cost
  };
  Prediction predict(const Point& point) const;
  // Over the best predicted mean of the observed points; in nats near the best.
  double expected_improvement(const Prediction& predicted) const;

 private:
  void learn_gates(const std::vector<Observation>& data);
  void tabulate();
  Point without_idle(Point point) const;
  double kernel(const Point& a, const Point& b) const;
  // Factorises the covariance under the present lengths; returns the log likelihood (up to a constant), with scale and mean at their best.
  double factorise();
  void fit();

  const std::vector<Factor>& factors_;
  std::vector<Point> points_;
  std::vector<double> y_, noise_;        // compressed costs; variances of their noise
  std::vector<double> lengths_;
  int gate_ = -1;                        // the factor whose category decides which others matter; -1 = none
  std::vector<std::vector<char>> idle_;  // [category of the gate][factor]
  std::vector<std::vector<double>> table_;
  std::vector<double> lower_;            // Cholesky factor, row-major
  std::vector<double> alpha_;            // K^-1 (y - mean)
  double mean_ = 0, scale_ = 1, incumbent_ = 0;
};

}  // namespace whet
