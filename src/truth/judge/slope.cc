// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/slope.h"

#include <algorithm>
#include <cmath>

#include "truth/measure/compare.h"

namespace whet {
namespace {

constexpr double kGapNs = 1500;           // between two launches of nothing, back to back
constexpr double kAgreesNs = 2000, kAgreesPart = 0.05;
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
    worth_it_ = 3 * static_cast<uint64_t>(short_) * bytes < kMostBytes;
  }

  Slope run() {
    Slope slope;
    if (!worth_it_) return slope;
    if (slope.verdict = lend(); !slope.verdict.correct()) return slope;
    double least[2] = {INFINITY, INFINITY};
    const int repetitions = parts_.claimed_ns > kLongNs ? 1 : kRepetitions;
    for (int round = 0; round < repetitions; ++round) {
      if (slope.verdict = answer(round); !slope.verdict.correct()) return slope;
      for (int which = 0; which < 2; ++which) {
        CallTime time;
        slope.verdict = parts_.solution.burst(which ? short_ : 0, which ? 2 * short_ : short_, time);
        parts_.stopwatch.move(Stopwatch::solutions, std::max(0.0, time.wall));
        if (!slope.verdict.correct()) return slope;
        least[which] = std::min(least[which], time.wall);
      }
      if (slope.verdict = check(); !slope.verdict.correct()) return slope;
    }
    slope.ns = (least[1] - least[0]) / short_;
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

  // New contents of all sets, and what the reference makes of them.
  Verdict answer(int round) {
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
        if (!found.passes)
          return {Code::wrong, fmt::format("call {} of {} without a pause: {} of {} elements of {} are wrong, the worst at {:.3g} times the tolerance", set + 1, 3 * short_, found.failing, count,
                                           tensor.name, found.worst_bound),
                  ""};
      }
    return {Code::correct, "", ""};
  }

  const SlopeParts& parts_;
  int short_ = 2;
  bool worth_it_ = true;
  std::vector<std::vector<Buffer>> sets_;
};

}  // namespace

Slope measure_slope(const SlopeParts& parts) { return Measurement(parts).run(); }

Belief believe(double claimed_ns, double host_ns, double slope_ns) {
  const auto allowed = [](double ns) { return ns + std::max(kAgreesPart * ns, kAgreesNs) + kGapNs; };
  if (slope_ns <= allowed(claimed_ns)) return Belief::agrees;
  return slope_ns <= allowed(std::max(claimed_ns, host_ns)) ? Belief::host_bound : Belief::refuted;
}

}  // namespace whet
