// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/optimiser.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>

#include "direction/agent/surrogate.h"

namespace whet {
namespace {

constexpr double kSmallestDeviation = 0.003;
constexpr int kDrought = 14;                 // different points without a gain
constexpr std::size_t kWholeSpace = 1500;    // up to this many points all are candidates
constexpr std::size_t kRandomCandidates = 700;

uint64_t mix(uint64_t& state) {  // SplitMix64
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool contains_word(std::string name, const char* word) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find(word) != std::string::npos;
}

int guess_importance(const std::string& name) {
  for (const char* word : {"path", "algorithm", "kernel", "variant"})
    if (contains_word(name, word)) return 2;
  return contains_word(name, "thread") ? 1 : 0;
}

// They differ in one factor.
bool neighbours(const Point& a, const Point& b) {
  int differing = 0;
  for (std::size_t f = 0; f < a.size(); ++f) differing += a[f] != b[f];
  return differing == 1;
}

}  // namespace

Factor factor_of(const std::string& name, const std::vector<std::string>& values) {
  Factor factor{.name = name, .size = static_cast<int>(values.size()), .levels = {}, .importance = guess_importance(name)};
  std::vector<double> numbers;
  for (const std::string& value : values)
    if (const auto n = number(value)) numbers.push_back(*n);
  if (numbers.size() != values.size() || values.size() < 2 || factor.importance == 2) return factor;
  std::vector<double> sorted = numbers;
  std::ranges::sort(sorted);
  bool alternatives = true;
  for (std::size_t i = 0; i < sorted.size(); ++i) alternatives = alternatives && sorted[i] == static_cast<double>(i);
  if (alternatives && sorted.size() > 2) return factor;
  if (sorted.front() > 0)
    for (double& n : numbers) n = std::log(n);
  const auto [low, high] = std::ranges::minmax(numbers);
  if (high == low) return factor;
  for (double n : numbers) factor.levels.push_back((n - low) / (high - low));
  return factor;
}

Optimiser::Optimiser(std::vector<Factor> factors, Point start, uint64_t seed)
    : factors_(std::move(factors)), start_(std::move(start)), seed_(seed), best_seen_(std::numeric_limits<double>::infinity()),
      promise_(std::numeric_limits<double>::infinity()) {
  assert(valid(start_));
}

bool Optimiser::valid(const Point& point) const {
  if (point.size() != factors_.size()) return false;
  for (std::size_t f = 0; f < point.size(); ++f)
    if (point[f] < 0 || point[f] >= factors_[f].size) return false;
  return true;
}

double Optimiser::space_size() const {
  double size = 1;
  for (const Factor& factor : factors_) size *= factor.size;
  return size;
}

bool Optimiser::told(const Point& point) const { return seen_.contains(point); }

void Optimiser::tell(const Point& point, double log_cost, double deviation) {
  assert(valid(point) && std::isfinite(log_cost));
  auto [at, fresh] = seen_.try_emplace(point);
  if (fresh) order_.push_back(point);
  at->second = {log_cost, std::max(deviation, kSmallestDeviation), at->second.failed};
  ++tells_;
  if (at->second.failed) return;
  if (log_cost < best_seen_ - 0.005) last_gain_ = static_cast<int>(order_.size());
  best_seen_ = std::min(best_seen_, log_cost);
}

void Optimiser::tell_failed(const Point& point) {
  assert(valid(point));
  auto [at, fresh] = seen_.try_emplace(point);
  if (fresh) order_.push_back(point);
  at->second.failed = true;
  ++tells_;
}

std::optional<Optimiser::Best> Optimiser::best() const {
  std::optional<Best> best;
  for (const Point& point : order_) {
    const Seen& seen = seen_.at(point);
    if (seen.failed || (best && seen.log_cost >= best->log_cost)) continue;
    best = Best{point, seen.log_cost, seen.deviation};
  }
  return best;
}

// The start; then each alternative of the factors of importance 2 with all else as at the start; then those of importance 1 from the best so far.
std::optional<Point> Optimiser::sweep() const {
  if (!seen_.contains(start_)) return start_;
  for (int importance : {2, 1})
    for (std::size_t f = 0; f < factors_.size(); ++f) {
      if (factors_[f].importance != importance) continue;
      const auto so_far = best();
      Point point = importance == 2 || !so_far ? start_ : so_far->point;
      // What has been seen of this factor anywhere: a value is swept once, not again after every better point.
      std::set<int> values;
      for (const Point& seen : order_) values.insert(seen[f]);
      for (int value = factors_[f].size - 1; value >= 0; --value) {
        point[f] = value;
        if (!values.contains(value) && !seen_.contains(point)) return point;
      }
    }
  return std::nullopt;
}

std::vector<Point> Optimiser::candidates(uint64_t& state) const {
  std::vector<Point> result;
  std::set<Point> taken;
  const auto add = [&](const Point& point) {
    if (!seen_.contains(point) && taken.insert(point).second) result.push_back(point);
  };
  if (space_size() <= static_cast<double>(kWholeSpace)) {
    Point point(factors_.size(), 0);
    for (;;) {
      add(point);
      std::size_t f = 0;
      while (f < factors_.size() && ++point[f] == factors_[f].size) point[f++] = 0;
      if (f == factors_.size()) return result;
    }
  }
  // All points one or two factors away from the three best.
  std::vector<const Point*> good;
  for (const Point& point : order_)
    if (!seen_.at(point).failed) good.push_back(&point);
  std::ranges::stable_sort(good, {}, [&](const Point* point) { return seen_.at(*point).log_cost; });
  good.resize(std::min<std::size_t>(good.size(), 3));
  for (const Point* centre : good)
    for (std::size_t f = 0; f < factors_.size(); ++f)
      for (int a = 0; a < factors_[f].size; ++a) {
        Point point = *centre;
        point[f] = a;
        add(point);
        if (centre != good.front()) continue;
        for (std::size_t g = f + 1; g < factors_.size(); ++g)
          for (int b = 0; b < factors_[g].size; ++b) {
            Point second = point;
            second[g] = b;
            add(second);
          }
      }
  const std::size_t wanted = result.size() + kRandomCandidates;
  for (std::size_t tries = 0; result.size() < wanted && tries < 20 * kRandomCandidates; ++tries) {
    Point point(factors_.size());
    for (std::size_t f = 0; f < factors_.size(); ++f) point[f] = static_cast<int>(mix(state) % static_cast<uint64_t>(factors_[f].size));
    add(point);
  }
  return result;
}

std::optional<Point> Optimiser::next() {
  if (static_cast<double>(seen_.size()) >= space_size()) return std::nullopt;
  if (auto point = sweep()) return point;
  uint64_t state = seed_ ^ (0x51ed270b7f4a7c15u * static_cast<uint64_t>(tells_ + 1));
  const std::vector<Point> among = candidates(state);
  if (among.empty()) return std::nullopt;
  const auto so_far = best();
  if (!so_far) return among[mix(state) % among.size()];  // nothing has worked yet

  std::vector<Observation> data;
  double worst = so_far->log_cost;
  for (const Point& point : order_)
    if (const Seen& seen = seen_.at(point); !seen.failed) worst = std::max(worst, seen.log_cost);
  for (const Point& point : order_) {
    const Seen& seen = seen_.at(point);
    data.push_back({point, seen.failed ? worst + 0.5 : seen.log_cost, seen.failed ? 0.3 : seen.deviation});
  }
  const Surrogate model(factors_, data);
  const int dry = static_cast<int>(order_.size()) - last_gain_;
  const bool explore = dry >= kDrought && dry % 3 == 0;
  const Point *chosen = nullptr, *nearest = nullptr;
  double best_value = -1, best_near = -1;
  for (const Point& point : among) {
    const Surrogate::Prediction predicted = model.predict(point);
    const double improvement = model.expected_improvement(predicted);
    const double value = explore ? predicted.deviation - 0.5 * predicted.mean : improvement;
    if (!chosen || value > best_value) chosen = &point, best_value = value;
    if (neighbours(point, so_far->point) && (!nearest || improvement > best_near)) nearest = &point, best_near = improvement;
  }
  promise_ = explore ? promise_ : best_value;
  if (promise_ >= kNoPromise || !nearest) return *chosen;
  promise_ = kNoPromise;
  return *nearest;
}

}  // namespace whet
