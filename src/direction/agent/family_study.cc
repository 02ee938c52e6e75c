// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>

#include "direction/agent/tuner.h"

namespace whet {
namespace {

constexpr double kUnmeasuredSpread = 0.10;  // nats: how far one workload of a family may be from another in its ratios
constexpr double kSmallestDeviation = 0.004;

std::vector<Factor> factors_of(const std::vector<Choice>& choices) {
  std::vector<Factor> factors;
  for (const Choice& choice : choices) factors.push_back(factor_of(choice.name, choice.values));
  return factors;
}

int index_of(const Choice& choice, const std::string& value) {
  const auto at = std::ranges::find(choice.values, value);
  assert(at != choice.values.end());
  return static_cast<int>(at - choice.values.begin());
}

Point values_as_point(const std::vector<Choice>& choices) {
  Point point;
  for (const Choice& choice : choices) point.push_back(index_of(choice, choice.value));
  return point;
}

}  // namespace

FamilyStudy::FamilyStudy(std::string family, std::vector<Choice> choices, std::vector<const Workload*> workloads, uint64_t seed)
    : family_(std::move(family)), choices_(std::move(choices)), workloads_(std::move(workloads)), start_(values_as_point(choices_)),
      reference_(start_), optimiser_(factors_of(choices_), start_, seed) {
  for (const Workload* workload : workloads_) costs_[start_][workload->name] = {0, 1 / (kSmallestDeviation * kSmallestDeviation)};
  publish(start_);
}

void FamilyStudy::know_time(const std::string& workload, double ns) {
  if (std::isfinite(ns)) start_ns_[workload] = ns;
}

std::vector<std::string> FamilyStudy::representatives() const {
  std::vector<const Workload*> cheap = workloads_;
  std::ranges::stable_sort(cheap, {}, [&](const Workload* workload) {
    const auto at = start_ns_.find(workload->name);
    return at == start_ns_.end() ? std::numeric_limits<double>::max() : at->second;
  });
  std::vector<std::string> result;
  std::set<std::string> definitions;
  for (const Workload* workload : cheap)
    if (result.size() < 2 && definitions.insert(workload->definition).second) result.push_back(workload->name);
  for (const Workload* workload : cheap)
    if (result.size() < 2 && std::ranges::find(result, workload->name) == result.end()) result.push_back(workload->name);
  return result;
}

std::vector<std::string> FamilyStudy::not_measured(const Point& point) const {
  const auto at = costs_.find(point);
  std::vector<std::string> result;
  for (const Workload* workload : workloads_)
    if (at == costs_.end() || !at->second.contains(workload->name)) result.push_back(workload->name);
  return result;
}

Point FamilyStudy::point_of(const std::vector<Choice>& choices) const {
  Point point = start_;
  for (std::size_t f = 0; f < choices_.size(); ++f) {
    const auto at = std::ranges::find(choices, choices_[f].name, &Choice::name);
    assert(at != choices.end());
    point[f] = index_of(choices_[f], at->value);
  }
  return point;
}

std::map<std::string, std::string> FamilyStudy::values_of(const Point& point) const {
  std::map<std::string, std::string> values;
  for (std::size_t f = 0; f < choices_.size(); ++f) values[choices_[f].name] = choices_[f].values[static_cast<std::size_t>(point[f])];
  return values;
}

void FamilyStudy::learn(const Point& point, const Point& champion, const std::string& workload, double log_ratio, double deviation) {
  if (point == champion) return;  // it tells the noise, not a cost
  const auto yardstick = costs_.find(champion);
  if (yardstick == costs_.end() || !yardstick->second.contains(workload)) return;
  const double value = yardstick->second.at(workload).value - log_ratio;
  deviation = std::max(deviation, kSmallestDeviation);
  const double precision = 1 / (deviation * deviation);
  Cost& cost = costs_[point][workload];
  cost.value = (cost.value * cost.precision + value * precision) / (cost.precision + precision);
  cost.precision += precision;
}

void FamilyStudy::learn_failure(const Point& point) {
  failed_[point] = true;
  optimiser_.tell_failed(point);
}

double FamilyStudy::cost(const Point& point) const {
  const auto at = costs_.find(point);
  if (at == costs_.end() || failed_.contains(point)) return std::numeric_limits<double>::infinity();
  double sum = 0, reference_there = 0, reference_sum = 0;
  for (const auto& [workload, cost] : at->second) sum += cost.value;
  const auto measured = static_cast<double>(at->second.size());
  if (at->second.size() == workloads_.size()) return sum / measured;
  for (const auto& [workload, cost] : costs_.at(best_known())) {
    reference_sum += cost.value;
    if (at->second.contains(workload)) reference_there += cost.value;
  }
  return reference_sum / weight() + (sum - reference_there) / measured;
}

void FamilyStudy::publish(const Point& point) {
  const auto at = costs_.find(point);
  if (at == costs_.end() || failed_.contains(point)) return;
  tell(point, at->second);
  if (best_known() == reference_) return;
  reference_ = best_known();
  for (const auto& [other, costs] : costs_)
    if (other != point && !failed_.contains(other) && costs.size() < workloads_.size()) tell(other, costs);
}

void FamilyStudy::tell(const Point& point, const Costs& costs) {
  double variance = 0;
  for (const auto& [workload, cost] : costs) variance += 1 / cost.precision;
  const auto measured = static_cast<double>(costs.size());
  const double missing = 1 - measured / weight();
  const double imputed = missing * kUnmeasuredSpread / std::sqrt(measured);
  optimiser_.tell(point, cost(point), std::sqrt(variance / (measured * measured) + imputed * imputed));
}

Point FamilyStudy::best_known() const {
  Point best = start_;
  for (const auto& [point, costs] : costs_)
    if (costs.size() == workloads_.size() && cost(point) < cost(best)) best = point;
  return best;
}

bool FamilyStudy::promising(const Point& point) const {
  return !failed_.contains(point) && !not_measured(point).empty() && cost(point) < cost(best_known()) - 0.01;
}

}  // namespace whet
