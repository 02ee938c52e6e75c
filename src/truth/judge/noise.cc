// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/noise.h"

#include <algorithm>
#include <cmath>

#include "stats/summary.h"

namespace whet {
namespace {

constexpr size_t kWorkloads = 6;
constexpr int kPairs = 12;
constexpr size_t kLeastUsed = 6;    // pairs of a workload that says anything
constexpr double kInterrupted = 3;  // a time this many times the median was interrupted

// ln(second / first) of the pairs that were not interrupted: the same pairs that count in a judgement.
std::vector<double> log_ratios(const std::vector<double> (&ns)[2]) {
  const double most[2] = {kInterrupted * median(ns[0]), kInterrupted * median(ns[1])};
  std::vector<double> logs;
  for (size_t i = 0; i < ns[0].size(); ++i)
    if (ns[0][i] <= most[0] && ns[1][i] <= most[1]) logs.push_back(std::log(ns[1][i] / ns[0][i]));
  return logs;
}

// Alternating calls on shared draws; no answers are checked, so the reference is not needed. Empty: one of the processes failed.
std::vector<double> alternate(const Definition& definition, const Workload& workload, NoiseFloorParts& parts, Stopwatch& clock) {
  std::vector<double> times[2];
  auto inputs = Inputs::make(*parts.memory, definition, workload, parts.secret, runner::kMaxSets);
  if (!inputs) return {};
  Contestant* players[2] = {parts.first.get(), parts.second.get()};
  for (Contestant* player : players) {
    player->watch_outputs(false);
    if (!player->open(definition, workload, *inputs, parts.secret).correct()) return {};
  }
  for (int draw = 0; draw <= kPairs; ++draw) {
    inputs->write(inputs->next(draw));
    for (int i = 0; i < 2; ++i) {
      const int which = (draw + i) % 2;
      CallTime time;
      if (draw % Inputs::kDrawsPerPlan == 0 && (draw == 0 || inputs->has_plan()) && !players[which]->prepare(inputs->set_of(draw), Caches::flushed, time).correct()) return {};
      if (!players[which]->run(inputs->set_of(draw), Caches::flushed, time).correct()) return {};
      clock.move(Stopwatch::solutions, time.wall);
      if (draw > 0) times[which].push_back(time.ns < 0 ? INFINITY : net_time(time.ns, parts.empty_turn_ns));  // the first is warm-up
    }
  }
  for (Contestant* player : players) player->close();
  return log_ratios(times);
}

}  // namespace

double net_time(double ns, double empty_turn_ns) { return ns - std::min(empty_turn_ns, ns / 2); }

Expected<double> measure_empty_turn(Contestant& contestant) {
  WHET_OK(contestant.start_idle());
  std::vector<double> times;
  for (int i = 0; i < 210; ++i) {
    double ns = 0;
    if (Verdict verdict = contestant.empty_turn(ns); !verdict.correct()) return machine_failed("an empty turn failed: {}", verdict.sentence);
    if (i >= 10) times.push_back(ns);
  }
  // The least is what waiting cannot cost less than: to subtract more would make a Solution faster than it is.
  return *std::min_element(times.begin(), times.end());
}

double noise_between(const std::vector<std::vector<double>>& workloads, double least) {
  double excess = 0;
  int used = 0;
  for (const std::vector<double>& logs : workloads) {
    if (logs.size() < kLeastUsed) continue;
    const Interval center = bootstrap_midmean(logs, 1);
    const double error = (center.high - center.low) / (2 * 1.96);
    excess += center.value * center.value - error * error;
    ++used;
  }
  return std::clamp(used ? std::sqrt(std::max(0.0, excess / used)) : kMostNoise, least, kMostNoise);
}

double measure_noise(NoiseFloorParts& parts, Stopwatch& clock) {
  std::vector<std::vector<double>> logs;
  const size_t all = parts.workloads.size(), count = std::min(kWorkloads, all);
  for (size_t i = 0; i < count; ++i) {
    const auto& [definition, workload] = parts.workloads[i * all / count];
    logs.push_back(alternate(*definition, *workload, parts, clock));
  }
  return noise_between(logs, parts.memory->last_cache_bytes() ? kLeastNoiseOfDevice : kLeastNoise);
}

}  // namespace whet
