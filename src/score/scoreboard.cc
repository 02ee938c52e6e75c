// SPDX-License-Identifier: Apache-2.0
#include "score/scoreboard.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "score/ratio.h"
#include "stats/summary.h"

namespace whet {
namespace {

constexpr uint64_t kSeed = 20260101;  // of the resampling; any constant does

struct Pairs {
  const WorkloadResult* result;
  std::string fastest;
  std::map<std::string, std::vector<double>> logs;  // by baseline
};

// The workloads on which the candidate is right and at least one baseline was timed beside it.
std::vector<Pairs> timed_workloads(const Evaluation& evaluation) {
  std::vector<Pairs> timed;
  for (const WorkloadResult& result : evaluation.workloads) {
    if (result.trials.empty() || !result.candidate().verdict.correct()) continue;
    Pairs pairs{&result, fastest_baseline(result, Column::flushed), {}};
    for (const Trial& trial : result.trials) {
      if (trial.role == "candidate" || !trial.verdict.correct()) continue;
      auto logs = paired_log_ratios(result.candidate(), trial, Column::flushed);
      if (!logs.empty()) pairs.logs[trial.solution] = std::move(logs);
    }
    if (pairs.logs.count(pairs.fastest)) timed.push_back(std::move(pairs));
  }
  return timed;
}

std::optional<Ratio> geomean(const std::vector<std::vector<double>>& groups, double noise_floor) {
  if (groups.empty()) return std::nullopt;
  return ratio_from_log(bootstrap_mean_of_midmeans(groups, kSeed), noise_of_geomean(noise_floor, groups.size()));
}

std::vector<std::vector<double>> groups_of(const std::vector<Pairs>& timed, const auto& keep) {
  std::vector<std::vector<double>> groups;
  for (const Pairs& pairs : timed)
    if (keep(*pairs.result)) groups.push_back(pairs.logs.at(pairs.fastest));
  return groups;
}

void score_families(const Evaluation& evaluation, const std::vector<Pairs>& timed, Scoreboard& board) {
  for (const WorkloadResult& result : evaluation.workloads) {
    FamilyScore& family = board.by_family[result.family];
    ++family.workloads;
    family.correct += !result.trials.empty() && result.candidate().verdict.correct();
  }
  for (auto& [name, family] : board.by_family) {
    family.geomean = geomean(groups_of(timed, [&](const WorkloadResult& result) { return result.family == name; }), evaluation.noise_floor);
    family.geomean_without = geomean(groups_of(timed, [&](const WorkloadResult& result) { return result.family != name; }), evaluation.noise_floor);
  }
}

void score_workloads(const Evaluation& evaluation, const std::vector<Pairs>& timed, Scoreboard& board) {
  for (const Pairs& pairs : timed) {
    ScoredWorkload row{pairs.result->workload, pairs.result->family, pairs.fastest, {}, {}};
    for (const auto& [baseline, logs] : pairs.logs) row.versus[baseline] = ratio_from_log(bootstrap_midmean(logs, kSeed), evaluation.noise_floor);
    row.versus_fastest = row.versus.at(pairs.fastest);
    board.at_par += row.versus_fastest.value >= 1;
    board.workloads.push_back(std::move(row));
  }
  std::stable_sort(board.workloads.begin(), board.workloads.end(),
                   [](const auto& a, const auto& b) { return a.versus_fastest.value < b.versus_fastest.value; });
}

void score_goal(const Goal& goal, Scoreboard& board) {
  board.goal_metric = goal.metric;
  board.goal_value = goal.value;
  std::optional<Ratio> reached = board.geomean_vs_fastest;
  if (goal.metric.rfind("geomean_vs:", 0) == 0) {
    const auto found = board.geomean_vs.find(goal.metric.substr(11));
    reached = found == board.geomean_vs.end() ? std::nullopt : std::optional(found->second.first);
  }
  board.goal_met = reached && reached->low >= goal.value;
}

}  // namespace

Scoreboard score(const Evaluation& evaluation, const Goal& goal) {
  Scoreboard board;
  board.workloads_total = static_cast<int>(evaluation.workloads.size());
  for (const WorkloadResult& result : evaluation.workloads) board.workloads_correct += !result.trials.empty() && result.candidate().verdict.correct();
  const std::vector<Pairs> timed = timed_workloads(evaluation);
  score_workloads(evaluation, timed, board);
  score_families(evaluation, timed, board);
  const auto all = groups_of(timed, [](const WorkloadResult&) { return true; });
  if (auto ratio = geomean(all, evaluation.noise_floor)) board.geomean_correct_only = std::pair(*ratio, static_cast<int>(all.size()));
  const bool hidden_correct = std::all_of(evaluation.hidden.begin(), evaluation.hidden.end(), [](const HiddenResult& result) { return result.verdict.correct(); });
  const bool complete = hidden_correct && board.workloads_total > 0 && board.workloads_correct == board.workloads_total && static_cast<int>(all.size()) == board.workloads_total;
  if (complete) {
    board.geomean_vs_fastest = board.geomean_correct_only->first;
    std::set<std::string> baselines;
    for (const Pairs& pairs : timed)
      for (const auto& [name, logs] : pairs.logs) baselines.insert(name);
    for (const std::string& name : baselines) {
      std::vector<std::vector<double>> groups;
      for (const Pairs& pairs : timed)
        if (pairs.logs.count(name)) groups.push_back(pairs.logs.at(name));
      board.geomean_vs[name] = {*geomean(groups, evaluation.noise_floor), static_cast<int>(groups.size())};
    }
  }
  score_goal(goal, board);
  return board;
}

}  // namespace whet
