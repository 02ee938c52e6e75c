// SPDX-License-Identifier: Apache-2.0
#include "report/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/numbers.h"

namespace whet {
namespace {

// Below these differences nothing is said.
constexpr double kOtherColumnMatters = 1.1;
constexpr double kFirstCallMatters = 3;
constexpr double kScatterMatters = 0.1;
constexpr double kNearFloor = 1.5;

using Reasons = std::vector<std::string>;

const Trial* find_baseline(const WorkloadResult& result, const std::string& name) {
  for (const Trial& trial : result.trials)
    if (trial.role == "baseline" && trial.solution == name) return &trial;
  return nullptr;
}

void say_who_wins(const Trial& candidate, const Trial& baseline, const ScoredWorkload& scored, Reasons& reasons) {
  const double ours = candidate.median_ns(Column::flushed), theirs = baseline.median_ns(Column::flushed);
  const TimeUnit unit = unit_for(std::fmin(ours, theirs));
  const std::string times = fmt::format("{} against {}", time_text(ours, unit), time_text(theirs, unit));
  if (scored.versus_fastest.high < 1)
    reasons.push_back(fmt::format("{} wins: {}", baseline.solution, times));
  else if (scored.versus_fastest.low > 1)
    reasons.push_back(fmt::format("still ahead of {}, the fastest baseline: {}", baseline.solution, times));
  else
    reasons.push_back(fmt::format("level with {}: {}", baseline.solution, times));
}

void say_how_far_from_floor(const WorkloadResult& result, const Trial* baseline, Reasons& reasons) {
  const double ours = result.candidate().median_ns(Column::flushed) / result.floor_ns;
  if (!(result.floor_ns > 0) || !std::isfinite(ours)) return;
  const double theirs = baseline ? baseline->median_ns(Column::flushed) / result.floor_ns : NAN;
  std::string text = fmt::format("{} the physical floor of {}", factor_text(ours), time_text(result.floor_ns));
  if (std::isfinite(theirs)) text += fmt::format(" ({} is at {})", baseline->solution, factor_text(theirs));
  if (ours < kNearFloor) text += ": little is left to gain";
  reasons.push_back(text);
}

// Where the ratio differs between flushed and resident inputs, the difference is made by moving memory.
void say_what_resident_changes(const Trial& candidate, const Trial& baseline, Reasons& reasons) {
  const double flushed = baseline.median_ns(Column::flushed) / candidate.median_ns(Column::flushed);
  const double resident = baseline.median_ns(Column::resident) / candidate.median_ns(Column::resident);
  if (!std::isfinite(flushed) || !std::isfinite(resident)) return;
  if (resident > flushed * kOtherColumnMatters)
    reasons.push_back(fmt::format("with the inputs in the cache it is {}: what it loses, it loses fetching memory", factor_text(resident)));
  else if (resident < flushed / kOtherColumnMatters)
    reasons.push_back(fmt::format("with the inputs in the cache it is only {}: what it loses, it loses computing", factor_text(resident)));
}

void say_what_the_first_call_costs(const Trial& candidate, const Trial& baseline, Reasons& reasons) {
  const double ours = candidate.median_ns(Column::cold), theirs = baseline.median_ns(Column::cold);
  const double steady = candidate.median_ns(Column::flushed);
  if (!(ours > kFirstCallMatters * steady) || !(ours > kOtherColumnMatters * theirs)) return;
  reasons.push_back(fmt::format("prepare and the first call take {}, those of {} {}", time_text(ours), baseline.solution, time_text(theirs)));
}

void say_how_it_scatters(const Trial& candidate, Reasons& reasons) {
  auto samples = candidate.samples.find(Column::flushed);
  if (samples == candidate.samples.end()) return;
  std::vector<double> used;
  for (const Sample& sample : samples->second)
    if (sample.discarded.empty()) used.push_back(sample.ns);
  const std::size_t discarded = samples->second.size() - used.size();
  if (used.size() >= 4) {
    std::sort(used.begin(), used.end());
    const double low = used[used.size() / 4], high = used[used.size() * 3 / 4], middle = candidate.median_ns(Column::flushed);
    if ((high - low) / middle > kScatterMatters)
      reasons.push_back(fmt::format("its times scatter: half of them lie outside {} to {}", time_text(low), time_text(high)));
  }
  if (discarded * 4 > samples->second.size()) reasons.push_back(fmt::format("{} of {} samples were discarded", discarded, samples->second.size()));
}

}  // namespace

std::vector<std::string> why_it_stands_there(const WorkloadResult& result, const ScoredWorkload& scored) {
  Reasons reasons;
  const Trial& candidate = result.candidate();
  const Trial* baseline = find_baseline(result, scored.fastest);
  if (!candidate.verdict.correct()) reasons.push_back(candidate.verdict.sentence);
  if (baseline) say_who_wins(candidate, *baseline, scored, reasons);
  say_how_far_from_floor(result, baseline, reasons);
  if (baseline) {
    say_what_resident_changes(candidate, *baseline, reasons);
    say_what_the_first_call_costs(candidate, *baseline, reasons);
  }
  say_how_it_scatters(candidate, reasons);
  return reasons;
}

}  // namespace whet
