// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "direction/agent/agent.h"
#include "direction/agent/choices.h"
#include "direction/agent/optimiser.h"

namespace whet {

// What the tuner knows of one workload family: its choices as a space, and what each configuration costs on each workload. Costs are ln(time)
// relative to the start Solution, chained through the champions against which they were measured.
class FamilyStudy {
 public:
  // `choices` are those of the family, with the start's values. `workloads` are its members in the run's set, not empty.
  FamilyStudy(std::string family, std::vector<Choice> choices, std::vector<const Workload*> workloads, uint64_t seed);

  const std::string& family() const { return family_; }
  double weight() const { return static_cast<double>(workloads_.size()); }

  // Times of the start Solution decide which workloads are cheap.
  void know_time(const std::string& workload, double ns);
  // The two cheapest workloads, of different Definitions where there are several.
  std::vector<std::string> representatives() const;
  std::vector<std::string> not_measured(const Point& point) const;

  Point point_of(const std::vector<Choice>& choices) const;
  std::map<std::string, std::string> values_of(const Point& point) const;

  // ln(time of the champion / time of `point`) on one workload, and its standard deviation.
  void learn(const Point& point, const Point& champion, const std::string& workload, double log_ratio, double deviation);
  void learn_failure(const Point& point);
  // Hands what was learnt of this point to the optimiser, and what that changes for points that were measured in part.
  void publish(const Point& point);

  std::optional<Point> propose() { return optimiser_.next(); }
  bool tried(const Point& point) const { return optimiser_.told(point); }
  double promise() const { return optimiser_.promise(); }
  // Cost of a point; on workloads where it was not measured it is to best_known() as it is on the others. (A mean of the measured ones alone would
  // compare different workloads, and one that gains much would make every point that was not measured on it look bad.)
  double cost(const Point& point) const;
  // The cheapest configuration that was measured on all workloads; the start if there is none.
  Point best_known() const;
  // It looks better than best_known() on what was measured, and more is to be measured.
  bool promising(const Point& point) const;

 private:
  struct Cost {
    double value = 0, precision = 0;
  };
  using Costs = std::map<std::string, Cost>;  // by workload
  void tell(const Point& point, const Costs& costs);

  std::string family_;
  std::vector<Choice> choices_;
  std::vector<const Workload*> workloads_;
  std::map<std::string, double> start_ns_;
  Point start_;
  std::map<Point, Costs> costs_;
  std::map<Point, bool> failed_;
  Point reference_;  // best_known() at the last publish()
  Optimiser optimiser_;
};

// The Agent that needs no model: it minimises the time over the choices that the source declares, each family by itself, all in the same Candidates.
//
// Economy. A trial costs one recompilation and link of the file with the choices (about 1.5 s), a process (0.05 s), and about 0.12 s a workload at 3
// draws against the champion. Families do not share choices, so one build carries a trial of each: 7 families x 2 representative workloads make
// 1.7 s, about 3.3 s a trial. In 120 s: 12 s for the first look at start with its baselines, then until the soft stop (90 s) about 20 trials = 140
// configurations, then 30 s for the last challenge and its confirmation (each 26 x 0.15 + 1.5 s). A configuration that beats the family's best on its
// representatives is measured on the other workloads of the family before it counts (no build: the Candidate is the same). Losers are given up
// after the first draws. The families' bests are merged into one Candidate which challenges the champion on the whole set when the gain since the
// last one is large (after the sweeps: a slow yardstick wastes more time than the challenge costs), or at the last call.
Expected<std::unique_ptr<Agent>> make_tuner(const AgentSetup& setup);

}  // namespace whet
