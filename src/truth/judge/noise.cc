// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/noise.h"

#include <algorithm>
#include <cmath>

#include "stats/summary.h"

namespace whet {
namespace {

constexpr size_t kWorkloads = 3;
constexpr int kPairs = 12;
constexpr double kMostNoise = 0.05;

// ln(second / first) of alternating calls on shared draws; no answers are checked, so the reference is not needed.
std::vector<double> alternate(const Definition& definition, const Workload& workload, NoiseFloorParts& parts, Stopwatch& clock) {
  std::vector<double> logs;
  auto inputs = Inputs::make(definition, workload, parts.secret, runner::kMaxSets);
  if (!inputs) return logs;
  Contestant* players[2] = {parts.first.get(), parts.second.get()};
  for (Contestant* player : players) {
    player->watch_outputs(false);
    if (!player->open(definition, workload, *inputs, parts.secret).correct()) return logs;
  }
  for (int draw = 0; draw <= kPairs; ++draw) {
    inputs->write(inputs->next(draw));
    double ns[2] = {};
    for (int i = 0; i < 2; ++i) {
      const int which = (draw + i) % 2;
      double ignored = 0;
      if (draw % Inputs::kDrawsPerPlan == 0 && (draw == 0 || inputs->has_plan()) && !players[which]->prepare(inputs->set_of(draw), Caches::flushed, ignored).correct()) return logs;
      if (!players[which]->run(inputs->set_of(draw), Caches::flushed, ns[which]).correct()) return logs;
      clock.move(Stopwatch::solutions, ns[which]);
      ns[which] = net_time(ns[which], parts.empty_turn_ns);
    }
    if (draw > 0) logs.push_back(std::log(ns[1] / ns[0]));  // the first is warm-up
  }
  for (Contestant* player : players) player->close();
  return logs;
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

double measure_noise(NoiseFloorParts& parts, Stopwatch& clock) {
  double squares = 0;
  int used = 0;
  for (const auto& [definition, workload] : parts.workloads) {
    if (used == static_cast<int>(kWorkloads)) break;
    const std::vector<double> logs = alternate(*definition, *workload, parts, clock);
    if (logs.size() < kPairs) continue;
    const double center = midmean(logs);
    squares += center * center;
    ++used;
  }
  const double noise = used ? std::sqrt(squares / used) : kMostNoise;
  return std::clamp(noise, kLeastNoise, kMostNoise);
}

}  // namespace whet
