// SPDX-License-Identifier: Apache-2.0
//
// tuner_vs_random [--seeds N] LANDSCAPE.json ...
// How many configurations must be measured until one is within 2 % of the best? Over recorded exhaustive landscapes (bench/landscape.cc), for the
// tuner's optimiser and for random search without repetition; both begin with the start Solution's configuration. A configuration's cost is the
// geomean over the family's workloads of its fastest sample: the recording machine was shared, and a disturbance only ever adds time. Besides
// these costs the optimiser is also given noisy ones (2 %, normal); reaching counts by the recorded cost in both cases.
// Exits 1 unless the optimiser's median is at most half of random search's on every landscape.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>

#include "base/file.h"
#include "base/json_impl.h"
#include "direction/agent/optimiser.h"
#include "stats/summary.h"

namespace {

using namespace whet;

struct Landscape {
  std::string name;
  std::vector<Factor> factors;
  Point start;
  std::vector<double> cost;  // ln
  double best = 0;

  std::size_t index(const Point& point) const {
    std::size_t at = 0;
    for (std::size_t f = 0; f < factors.size(); ++f) at = at * static_cast<std::size_t>(factors[f].size) + static_cast<std::size_t>(point[f]);
    return at;
  }
  bool reached(std::size_t i) const { return cost[i] <= best + std::log(1.02); }
};

Expected<Landscape> load(const std::string& path) {
  WHET_TRY(const std::string text, read_file(path));
  WHET_TRY(const Json json, parse_json(text, path));
  Landscape landscape;
  landscape.name = json["family"].get<std::string>();
  for (const Json& choice : json["choices"]) {
    const auto values = choice["values"].get<std::vector<std::string>>();
    landscape.factors.push_back(factor_of(choice["name"].get<std::string>(), values));
    landscape.start.push_back(static_cast<int>(std::ranges::find(values, choice["start"].get<std::string>()) - values.begin()));
  }
  for (const auto& row : json["ns"].get<std::vector<std::vector<std::vector<double>>>>()) {
    double sum = 0;
    for (const auto& samples : row) {
      if (samples.empty()) return bad_input("{}: configuration {} was not measured on every workload; run landscape again", path, landscape.cost.size());
      sum += std::log(std::ranges::min(samples));
    }
    landscape.cost.push_back(sum / static_cast<double>(row.size()));
  }
  landscape.best = std::ranges::min(landscape.cost);
  return landscape;
}

int by_random(const Landscape& landscape, uint64_t seed) {
  std::vector<std::size_t> order(landscape.cost.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::mt19937_64 generator(seed);
  std::ranges::shuffle(order, generator);
  const std::size_t start = landscape.index(landscape.start);
  int evaluations = 1;
  if (landscape.reached(start)) return evaluations;
  for (std::size_t i : order) {
    if (i == start) continue;
    ++evaluations;
    if (landscape.reached(i)) break;
  }
  return evaluations;
}

int by_optimiser(const Landscape& landscape, uint64_t seed, bool noisy) {
  Optimiser optimiser(landscape.factors, landscape.start, seed);
  std::mt19937_64 generator(seed);
  std::normal_distribution<> noise(0, 0.02);
  int evaluations = 0;
  while (const auto point = optimiser.next()) {
    const std::size_t i = landscape.index(*point);
    ++evaluations;
    if (landscape.reached(i)) break;
    const double cost = landscape.cost[i] + (noisy ? noise(generator) : 0);
    optimiser.tell(*point, cost, noisy ? 0.02 : 0.003);
  }
  return evaluations;
}

struct Spread {
  double median, low, high;
};
template <class Search>
Spread over_seeds(int seeds, const Search& search) {
  std::vector<double> needed;
  for (int seed = 1; seed <= seeds; ++seed) needed.push_back(search(static_cast<uint64_t>(seed)));
  std::ranges::sort(needed);
  const auto n = static_cast<double>(needed.size() - 1);
  return {median(needed), needed[static_cast<std::size_t>(0.1 * n)], needed[static_cast<std::size_t>(0.9 * n)]};
}

}  // namespace

int main(int argc, char** argv) {
  int seeds = 100;
  bool met = true;
  std::setvbuf(stdout, nullptr, _IOLBF, 1 << 12);
  std::printf("%-14s %6s %6s %7s | %-22s | %-22s | %-22s | %s\n", "landscape", "size", "within", "start", "random: median 10-90 %", "tuner: median 10-90 %",
              "tuner, 2 % noise", "share");
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--seeds") == 0 && i + 1 < argc) {
      seeds = std::atoi(argv[++i]);
      continue;
    }
    const Expected<Landscape> landscape = load(argv[i]);
    if (!landscape) {
      std::fprintf(stderr, "tuner_vs_random: %s\n", landscape.error().what.c_str());
      return 3;
    }
    long within = 0;
    for (std::size_t c = 0; c < landscape->cost.size(); ++c) within += landscape->reached(c);
    const Spread random = over_seeds(seeds, [&](uint64_t seed) { return by_random(*landscape, seed); });
    const Spread exact = over_seeds(seeds, [&](uint64_t seed) { return by_optimiser(*landscape, seed, false); });
    const Spread noisy = over_seeds(seeds, [&](uint64_t seed) { return by_optimiser(*landscape, seed, true); });
    std::printf("%-14s %6zu %6ld %6.2fx | %6.1f  %6.0f - %-6.0f | %6.1f  %6.0f - %-6.0f | %6.1f  %6.0f - %-6.0f | %.2f\n", landscape->name.c_str(),
                landscape->cost.size(), within, std::exp(landscape->cost[landscape->index(landscape->start)] - landscape->best), random.median,
                random.low, random.high, exact.median, exact.low, exact.high, noisy.median, noisy.low, noisy.high, exact.median / random.median);
    met = met && exact.median <= 0.5 * random.median;
  }
  std::printf("%s: at most half of random search's median evaluations to come within 2 %% of the best (%d seeds)\n", met ? "met" : "NOT MET", seeds);
  return met ? 0 : 1;
}
