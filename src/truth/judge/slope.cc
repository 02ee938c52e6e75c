// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/slope.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "truth/measure/compare.h"

namespace whet {
namespace {

constexpr double kGapNs = 1500;           // between two launches of nothing, back to back
constexpr double kAgreesNs = 2000, kColdAgreesNs = 4000, kAgreesPart = 0.05;
// Waking the worker takes 50 us more or less, which is spread over the N calls of a burst: the least of three, unless that is nothing beside one call.
constexpr double kLongNs = 3e6;
constexpr int kRepetitions = 3;
constexpr uint64_t kMostSets = 24;        // 3 N
constexpr uint64_t kMostBytes = uint64_t{72} << 30;

// 3 N sets: N for the short burst, 2 N for the long one. Over four times the last cache in all, so that no set is still in it when its turn comes.
int calls_of_short_burst(uint64_t set_bytes, uint64_t cache_bytes) {
  const uint64_t sets = std::clamp<uint64_t>(4 * cache_bytes / std::max<uint64_t>(set_bytes, 1) + 1, 6, kMostSets);
  return static_cast<int>(std::max<uint64_t>(2, sets / 3));
}

class Measurement {
 public:
  explicit Measurement(const SlopeParts& parts) : parts_(parts) {
    uint64_t bytes = parts.inputs.bytes();
    for (const Buffer& output : parts.solution.outputs()) bytes += output.bytes();
    short_ = calls_of_short_burst(bytes, parts.inputs.memory().last_cache_bytes());
    stays_warm_ = 3 * static_cast<uint64_t>(short_) * bytes < 4 * parts.inputs.memory().last_cache_bytes();
    worth_it_ = 3 * static_cast<uint64_t>(short_) * bytes < kMostBytes;
  }

  Slope run() {
    Slope slope;
    if (!worth_it_) return slope;
    if (slope.verdict = lend(); !slope.verdict.correct()) return slope;
    if (slope.verdict = measure(Caches::as_they_are, slope.ns); !slope.verdict.correct() || !stays_warm_) return slope;
    double flushes = 0;
    slope.verdict = measure(Caches::flushed, slope.cold_ns);
    if (slope.verdict.correct()) slope.verdict = measure_flushes(flushes);
    slope.cold_ns -= flushes;
    return slope;
  }

 private:
  Memory& memory() const { return parts_.inputs.memory(); }

  Verdict lend() {
    auto sets = parts_.inputs.more_sets(3 * short_);
    if (!sets) return {Code::machine_failed, sets.error().what, ""};
    sets_ = std::move(*sets);
    Verdict verdict = parts_.reference.open_burst(sets_);
    if (verdict.correct()) verdict = parts_.solution.open_burst(sets_);
    return verdict;
  }

  Verdict measure(Caches caches, double& slope) {
    double least[2] = {INFINITY, INFINITY};
    const int repetitions = parts_.claimed_ns > kLongNs ? 1 : kRepetitions;
    for (int round = 0; round < repetitions; ++round) {
      if (Verdict verdict = answer(); !verdict.correct()) return verdict;
      std::vector<uint64_t> seen[2];
      for (int which = 0; which < 2; ++which) {
        CallTime time;
        const Verdict verdict = parts_.solution.burst(first_of(which), count_of(which), caches, time);
        parts_.stopwatch.move(Stopwatch::solutions, std::max(0.0, time.wall));
        if (!verdict.correct()) return verdict;
        seen[which] = look(which);
        const std::chrono::duration<double, std::nano> until_seen = std::chrono::steady_clock::now() - time.returned;
        least[which] = std::min(least[which], time.wall + until_seen.count());
      }
      const Verdict verdict = check();
      for (int which = 0; which < 2; ++which)
        if (seen[which] != look(which)) return {Code::late, "in a burst of calls: an output changed after the last of them had returned", ""};
      if (!verdict.correct()) return verdict;
    }
    slope = (least[1] - least[0]) / short_;
    return {Code::correct, "", ""};
  }

  Verdict measure_flushes(double& slope) {
    double least[2] = {INFINITY, INFINITY};
    for (int round = 0; round < kRepetitions; ++round)
      for (int which = 0; which < 2; ++which) {
        CallTime time;
        if (Verdict verdict = parts_.solution.flushes(count_of(which), time); !verdict.correct()) return verdict;
        least[which] = std::min(least[which], time.wall);
      }
    slope = (least[1] - least[0]) / short_;
    return {Code::correct, "", ""};
  }

  // The short burst, and the long one.
  int first_of(int which) const { return which ? short_ : 0; }
  int count_of(int which) const { return which ? 2 * short_ : short_; }

  // A sample of the outputs of this burst, in one launch where they are no more than that takes: what is written while it is being taken has time that nobody
  // counts. Those of the short burst are taken twice, so that it takes as long as after the long one.
  std::vector<uint64_t> look(int which) {
    constexpr size_t kAtOnce = 64;
    std::vector<uint64_t> samples;
    std::vector<Buffer> some;
    const auto take = [&] {
      if (!some.empty()) samples.push_back(memory().sample(some, parts_.salt + static_cast<uint64_t>(which)));
      some.clear();
    };
    for (int i = 0; i < 2 * short_; ++i)
      for (const Buffer& output : parts_.solution.burst_outputs(first_of(which) + i % count_of(which))) {
        some.push_back(output);
        if (some.size() == kAtOnce) take();
      }
    take();
    return samples;
  }

  // New contents of all sets, and what the reference makes of them.
  Verdict answer() {
    const int round = rounds_++;
    parts_.reference.watch_outputs(false);
    for (int set = 0; set < 3 * short_; ++set) {
      parts_.inputs.write_more(sets_[static_cast<size_t>(set)], fmt::format("burst {} set {}", round, set));
      for (Buffer& output : parts_.solution.burst_outputs(set)) memory().zero(output.data(), output.bytes());
      CallTime time;
      const Verdict verdict = parts_.reference.run(runner::kMaxSets + set, Caches::as_they_are, time);
      parts_.stopwatch.move(Stopwatch::reference, std::max(0.0, time.wall));
      if (!verdict.correct()) return {verdict.code == Code::machine_failed ? Code::machine_failed : Code::reference_failed, "the reference: " + verdict.sentence, verdict.evidence};
    }
    return {Code::correct, "", ""};
  }

  Verdict check() {
    for (int set = 0; set < 3 * short_; ++set)
      for (size_t i = 0; i < parts_.definition.outputs.size(); ++i) {
        const TensorSpec& tensor = parts_.definition.outputs[i];
        const auto shape = shape_of(parts_.definition, tensor, parts_.workload.axes);
        const int64_t count = element_count(shape);
        const Buffer& want = parts_.reference.burst_outputs(set)[i];
        const Comparison found = memory().compare(tensor.dtype, parts_.solution.burst_outputs(set)[i].data(), want.data(), memory().magnitude_of(tensor.dtype, want.data(), count), count,
                                                  parts_.workload.tolerance, parts_.definition.nan_policy);
        if (Status fine = memory().health(); !fine) return {Code::machine_failed, fine.error().what, ""};
        if (const int64_t distance = memory().damage(parts_.solution.burst_outputs(set)[i]); distance >= 0)
          return {Code::out_of_bounds, fmt::format("call {} of {} without a pause: memory {} bytes outside the output {} was overwritten", set + 1, 3 * short_, distance, tensor.name), ""};
        if (!found.passes)
          return {Code::wrong, fmt::format("call {} of {} without a pause: {} of {} elements of {} are wrong, the worst at {:.3g} times the tolerance", set + 1, 3 * short_, found.failing, count,
                                           tensor.name, found.worst_bound),
                  ""};
      }
    return {Code::correct, "", ""};
  }

  const SlopeParts& parts_;
  int short_ = 2;
  bool worth_it_ = true, stays_warm_ = false;
  int rounds_ = 0;
  std::vector<std::vector<Buffer>> sets_;
};

}  // namespace

Slope measure_slope(const SlopeParts& parts) { return Measurement(parts).run(); }

Belief believe(double claimed_ns, double host_ns, double slope_ns, double cold_slope_ns) {
  const auto agree = [&](double ns) {
    const double gap = std::max(kAgreesPart * ns, kAgreesNs) + kGapNs, cold_gap = std::max(2 * kAgreesPart * ns, kColdAgreesNs) + kGapNs;
    return slope_ns <= ns + gap && cold_slope_ns <= ns + cold_gap;
  };
  if (agree(claimed_ns)) return Belief::agrees;
  return agree(std::max(claimed_ns, host_ns)) ? Belief::host_bound : Belief::refuted;
}

}  // namespace whet
