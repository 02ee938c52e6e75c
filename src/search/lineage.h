// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "search/store.h"

namespace whet {

// Where a run stands, as a function of what was judged in it: apply() the records in their order, as they come or out of the ledger.
//
// A challenge that beats the champion is confirmed by a second Evaluation with fresh draws in fresh processes; only when that wins too does the
// Candidate become champion. To win: every workload of the set is right and timed, and the geomean against the champion is above 1
// with the lower end of its interval, which the noise floor has widened.
class Lineage {
 public:
  // `start`: its solution hash. `workloads`: how many the run's set has.
  Lineage(std::string start, int workloads) : champion_(std::move(start)), workloads_(workloads) {}

  void apply(const JudgedRecord& judged);

  const std::string& champion() const { return champion_; }        // solution hash
  int champion_number() const { return number_; }                  // 0 = start
  const std::string& confirmed_by() const { return confirmed_by_; }  // Evaluation id; empty for start
  // The challenge that has won and waits for its confirmation.
  const std::optional<JudgedRecord>& to_confirm() const { return to_confirm_; }
  const std::optional<Evaluation>& baseline() const { return baseline_; }
  const std::optional<Evaluation>& final() const { return final_; }  // of the present champion
  bool wins(const Evaluation& evaluation) const;
  int candidates() const { return static_cast<int>(solutions_.size()); }

  // The best challenger so far of each workload family, also of challengers that lost as a whole.
  struct FamilyChampion {
    std::string solution_hash;
    double log_gain = 0;   // ln(start time / its time)
  };
  const std::map<std::string, FamilyChampion>& family_champions() const { return family_; }

  // The champion against the fastest baselines, by chaining the baseline Evaluation with the gains since: an estimate for the eye.
  struct Standing {
    double geomean = 0;    // 0 = unknown
    std::string worst;     // workload
    double worst_ratio = 0;
    double gain = 0;       // geomean of start time / champion time
  };
  Standing standing() const;

 private:
  void crown(const JudgedRecord& confirmation);
  void note_families(const Evaluation& evaluation);

  std::string champion_;
  int workloads_ = 0;
  int number_ = 0;
  std::string confirmed_by_;
  std::optional<JudgedRecord> to_confirm_;
  std::optional<Evaluation> baseline_, final_;
  std::map<std::string, double> gain_;  // of the champion by workload: ln(start time / its time)
  std::map<std::string, FamilyChampion> family_;
  std::set<std::string> solutions_;
};

}  // namespace whet
