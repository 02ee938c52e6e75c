// SPDX-License-Identifier: Apache-2.0
#include "search/lineage.h"

#include <algorithm>
#include <cmath>

namespace whet {
namespace {

constexpr double kMargin = 0.001;  // less is no gain that anyone wants, however sure

// ln(champion time / candidate time) of a workload, if it was right and timed.
std::optional<double> log_ratio(const ScoredWorkload& scored) {
  const auto at = scored.versus.find(kChampion);
  if (at == scored.versus.end() || !(at->second.value > 0)) return std::nullopt;
  return std::log(at->second.value);
}

}  // namespace

bool Lineage::wins(const Evaluation& evaluation) const {
  const Scoreboard& board = evaluation.scoreboard;
  if (board.workloads_total != workloads_ || board.workloads_correct != workloads_) return false;
  const auto against = board.geomean_vs.find(kChampion);
  if (against == board.geomean_vs.end() || against->second.second != workloads_) return false;
  // The interval is already widened by the noise floor (score/ratio.h).
  return against->second.first.low > 1 + kMargin;
}

void Lineage::apply(const JudgedRecord& judged) {
  solutions_.insert(judged.evaluation.solution_hash);
  switch (judged.purpose) {
    case Purpose::baseline:
      baseline_ = judged.evaluation;
      break;
    case Purpose::challenge:
      note_families(judged.evaluation);
      if (wins(judged.evaluation)) to_confirm_ = judged;
      break;
    case Purpose::confirm:
      if (to_confirm_ && judged.request.confirm_of == to_confirm_->evaluation.id && wins(judged.evaluation)) crown(judged);
      to_confirm_.reset();
      break;
    case Purpose::final:
      final_ = judged.evaluation;
      break;
    default:
      break;
  }
}

void Lineage::crown(const JudgedRecord& confirmation) {
  champion_ = confirmation.evaluation.solution_hash;
  confirmed_by_ = confirmation.evaluation.id;
  final_.reset();  // it was of the champion before
  ++number_;
  for (const ScoredWorkload& scored : confirmation.evaluation.scoreboard.workloads)
    if (const auto ratio = log_ratio(scored)) gain_[scored.workload] += *ratio;
}

void Lineage::note_families(const Evaluation& evaluation) {
  std::map<std::string, std::pair<double, int>> sums;  // ln(start time / candidate time), number
  for (const ScoredWorkload& scored : evaluation.scoreboard.workloads)
    if (const auto ratio = log_ratio(scored)) {
      const auto chained = gain_.find(scored.workload);
      auto& [sum, count] = sums[scored.family];
      sum += *ratio + (chained == gain_.end() ? 0 : chained->second);
      ++count;
    }
  for (const auto& [family, score] : evaluation.scoreboard.by_family) {
    const auto sum = sums.find(family);
    if (sum == sums.end() || score.correct != score.workloads || sum->second.second != score.workloads) continue;
    const double gain = sum->second.first / score.workloads;
    FamilyChampion& best = family_[family];
    if (best.solution_hash.empty() || gain > best.log_gain) best = {evaluation.solution_hash, gain};
  }
}

Lineage::Standing Lineage::standing() const {
  Standing standing;
  double gains = 0;
  for (const auto& [workload, gain] : gain_) gains += gain;
  standing.gain = gain_.empty() ? 1 : std::exp(gains / static_cast<double>(gain_.size()));
  if (!baseline_) return standing;
  double sum = 0;
  for (const ScoredWorkload& scored : baseline_->scoreboard.workloads) {
    const auto gain = gain_.find(scored.workload);
    const double ratio = std::log(scored.versus_fastest.value) + (gain == gain_.end() ? 0 : gain->second);
    sum += ratio;
    if (standing.worst.empty() || ratio < std::log(standing.worst_ratio)) {
      standing.worst = scored.workload;
      standing.worst_ratio = std::exp(ratio);
    }
  }
  if (!baseline_->scoreboard.workloads.empty())
    standing.geomean = std::exp(sum / static_cast<double>(baseline_->scoreboard.workloads.size()));
  return standing;
}

}  // namespace whet
