// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace whet {

// One dimension of a discrete space. `levels` says where its values lie on [0, 1]; empty means that they have no order.
struct Factor {
  std::string name;
  int size = 1;                 // number of values, at least 1
  std::vector<double> levels;
  // Expected influence: factors of higher importance are swept first. 2 = decides which others matter (a path), 1 = large, 0 = the rest.
  int importance = 0;
};

// Makes a factor from the text of its values: numbers get an order (logarithmic when all are positive), names do not, and neither do 0, 1, 2, ...,
// which are taken for the numbers of alternatives. Importance is guessed from the name (path or algorithm; threads).
Factor factor_of(const std::string& name, const std::vector<std::string>& values);

using Point = std::vector<int>;  // an index into the values of each factor

// Minimises a measured cost over a product of factors. No input or output, and deterministic: what it proposes depends on the seed and on what it was
// told, in that order, and not on what it proposed before; so a search goes on after a crash by telling it the past again.
//
// Start, then one-factor sweeps of the important factors, then a Gaussian process over the logarithm of the cost (product kernel, one length a
// factor, fitted by its likelihood; categories are equal or not) whose expected improvement chooses among the untried points; neighbours of the
// best points are always among the candidates. After a drought every third proposal goes where little is known.
// Where the model promises nothing more, the neighbours of the best point are still measured one by one: what a few points cannot tell of a factor
// that matters only beside others, the model cannot know either.
// Which factors matter under which category is learnt from pairs of points that differ in one factor only.
class Optimiser {
 public:
  Optimiser(std::vector<Factor> factors, Point start, uint64_t seed);

  // The next point to measure: never one that was told. Empty when all points have been told.
  std::optional<Point> next();

  // A measurement of ln(cost), with its standard deviation (0 is taken as 0.3 %). A point may be told again: the new figure
  // replaces the old one, so what one cheap workload said gives way to what all said.
  void tell(const Point& point, double log_cost, double deviation);
  // The point could not be measured (wrong, crashed, not compiled): it is never the best and its neighbourhood is avoided.
  void tell_failed(const Point& point);

  struct Best {
    Point point;
    double log_cost = 0;
    double deviation = 0;
  };
  std::optional<Best> best() const;
  bool told(const Point& point) const;
  std::size_t count() const { return seen_.size(); }  // different points
  double space_size() const;
  // Below this promise nothing is to be had.
  static constexpr double kNoPromise = 0.002;
  // Expected improvement of ln(cost) that the last proposal of the model promised; infinite while the sweeps last, at least kNoPromise while a
  // neighbour of the best point has not been measured.
  double promise() const { return promise_; }

 private:
  struct Seen {
    double log_cost = 0, deviation = 0;
    bool failed = false;
  };

  std::optional<Point> sweep() const;
  std::vector<Point> candidates(uint64_t& state) const;
  bool valid(const Point& point) const;

  std::vector<Factor> factors_;
  Point start_;
  uint64_t seed_;
  std::map<Point, Seen> seen_;
  std::vector<Point> order_;  // in which points were first told
  int tells_ = 0;
  int last_gain_ = 0;         // order_.size() when the best last became better by 0.5 %
  double best_seen_;          // what `last_gain_` compares with
  double promise_;
};

}  // namespace whet
