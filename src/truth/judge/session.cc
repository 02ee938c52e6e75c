// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "score/ratio.h"
#include "truth/judge/noise.h"
#include "truth/judge/slope.h"
#include "truth/judge/throttle.h"
#include "truth/measure/compare.h"
#include "truth/measure/number_format.h"

namespace whet {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLeastPairs = 3;              // fewer give no time
constexpr int kLeastTwins = 2;              // fewer let a cache pass that knows inputs by a sample, whatever the machine is busy with
constexpr double kInterrupted = 3;          // a sample this many times the median was interrupted
// Expected outputs that are kept, to tell what a wrong answer is the right answer to: the first, which a cache that is never refreshed returns, and
// the last. Not all: memory that is touched for the first time costs ten times what memory that is used again does.
constexpr size_t kFirstAnswers = 4, kMostAnswers = 12;
constexpr uint64_t kMostAnswerBytes = 256 << 20;
constexpr std::ptrdiff_t kRecentClocks = 8;  // calls whose clocks say what is usual
constexpr int kFurtherDraws = 5;            // of columns that no score hangs on
constexpr int kResidentEvery = 4;           // one draw in this many is resident

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

Verdict of_reference(const Verdict& verdict) {
  const Code code = verdict.code == Code::machine_failed ? Code::machine_failed : Code::reference_failed;
  return {code, "the reference: " + verdict.sentence, verdict.evidence};
}

bool wants(const EvaluateRequest& request, Column column) {
  return std::find(request.columns.begin(), request.columns.end(), column) != request.columns.end();
}

runner::Mode mode_of(Column column) {
  return column == Column::graph ? runner::Mode::graph : column == Column::end_to_end ? runner::Mode::end_to_end : runner::Mode::device;
}

Verdict written_late(const Draw& draw, const std::string& sentence) {
  return {Code::late, sentence.empty() ? fmt::format("draw {}: an output changed after the call had returned", draw.number) : sentence + "; the output went on changing after the call had returned", ""};
}

void discard_interrupted(std::vector<Sample>& samples) {
  std::vector<double> times;
  for (const Sample& sample : samples) times.push_back(sample.ns);
  const double middle = median(times);
  for (Sample& sample : samples)
    if (samples.size() >= 4 && sample.ns > kInterrupted * middle && sample.discarded.empty()) sample.discarded = fmt::format("interrupted: {:.1f} times the median", sample.ns / middle);
}

}  // namespace

WorkloadResult Session::run() {
  WorkloadResult result;
  result.workload = parts_.workload.name;
  result.definition = parts_.definition.name;
  result.family = parts_.workload.family;
  result.floor_ns = parts_.floor_ns;
  for (size_t i = 0; i < parts_.solutions.size(); ++i) {
    Player player{parts_.solutions[i], {}, false};
    player.trial.solution = parts_.solutions[i]->name();
    player.trial.role = parts_.roles[i];
    player.trial.verdict = {Code::correct, "", ""};
    players_.push_back(std::move(player));
  }
  const auto begin = Clock::now();
  Verdict verdict = open();
  if (verdict.correct()) verdict = compute_expected(parts_.inputs.next(next_draw_++));  // its answer is what outputs are first filled with
  if (!verdict.correct()) {
    for (Player& player : players_)
      if (player.trial.verdict.correct()) player.trial.verdict = verdict;
  } else {
    play(Column::cold);
    const EvaluateRequest& request = parts_.request;
    const bool resident = wants(request, Column::resident);
    while (!players_.front().out && !parts_.cancelled && !enough()) {
      const int flushed = rounds_[Column::flushed];
      const double spent = seconds_since(begin);
      if (flushed >= request.max_draws || (flushed >= request.min_draws && spent > request.seconds_per_workload)) break;
      if (spent > 4 * request.seconds_per_workload && flushed >= kLeastPairs && (twins_ >= kLeastTwins || !parts_.inputs.have_twins())) break;
      const bool turn_of_resident = resident && flushed >= 2 && rounds_[Column::resident] < flushed / (kResidentEvery - 1);
      if (!play(turn_of_resident ? Column::resident : Column::flushed)) break;
    }
    for (Column column : {Column::graph, Column::end_to_end})
      for (int i = 0; i < kFurtherDraws && wants(request, column) && memory().last_cache_bytes() && !players_.front().out && !parts_.cancelled; ++i)
        if (!play(column)) break;
    if (parts_.times_count && memory().last_cache_bytes() && !players_.front().out && !parts_.cancelled) look_while_held();
  }
  hold_against_own_clock();
  for (Player& player : players_) player.contestant->close();
  parts_.reference.close();
  finish(result);
  return result;
}

Verdict Session::open() {
  Verdict verdict = parts_.reference.open(parts_.definition, parts_.workload, parts_.inputs, parts_.secret);
  if (!verdict.correct()) return of_reference(verdict);
  // A limit of hours is none; the reference may take longer than any Solution has to.
  const std::chrono::milliseconds limit(std::llround(std::min(parts_.request.call_limit_seconds, 3600.0) * 1000));
  for (Player& player : players_) {
    player.contestant->set_call_limit(limit);
    player.trial.verdict = player.contestant->open(parts_.definition, parts_.workload, parts_.inputs, parts_.secret);
    player.out = !player.trial.verdict.correct();
  }
  if (players_.front().out) return players_.front().trial.verdict;
  for (size_t i = 0; i < parts_.definition.outputs.size(); ++i) {
    auto block = memory().allocate(static_cast<uint64_t>(count_of(i) * size_of(parts_.definition.outputs[i].dtype)));
    if (!block) return {Code::machine_failed, block.error().what, ""};
    stale_.push_back(std::move(*block));
  }
  return {Code::correct, "", ""};
}

int64_t Session::count_of(size_t output) const {
  return element_count(shape_of(parts_.definition, parts_.definition.outputs[output], parts_.workload.axes));
}

Verdict Session::compute_expected(const Draw& draw) {
  parts_.inputs.write(draw);
  const int set = parts_.inputs.set_of(draw.number), epoch = parts_.inputs.epoch_of(draw.number);
  Contestant& reference = parts_.reference;
  reference.watch_outputs(false);
  CallTime time;
  Verdict verdict{Code::correct, "", ""};
  if (epoch != plan_epoch_ || draw.number == 0) {
    verdict = reference.prepare(set, Caches::as_they_are, time);
    parts_.stopwatch.move(Stopwatch::reference, time.wall);
  }
  if (verdict.correct()) {
    verdict = reference.run(set, Caches::as_they_are, time);
    parts_.stopwatch.move(Stopwatch::reference, time.wall);
  }
  if (!verdict.correct()) return of_reference(verdict);
  return keep_answer(draw.number);
}

Verdict Session::keep_answer(int draw) {
  uint64_t bytes = 0;
  for (const Buffer& output : parts_.reference.outputs()) bytes += output.bytes();
  Answer answer{draw, {}, {}};
  const bool full = answers_.size() >= kMostAnswers, too_large = answers_.size() >= 4 && (answers_.size() + 1) * bytes > kMostAnswerBytes;
  if (full || too_large) {
    const auto goes = answers_.begin() + (full ? kFirstAnswers : 0);
    answer.outputs = std::move(goes->outputs);
    answers_.erase(goes);
  }
  for (size_t i = 0; i < parts_.definition.outputs.size(); ++i) {
    const Buffer& output = parts_.reference.outputs()[i];
    if (answer.outputs.size() <= i) {
      auto block = memory().allocate(output.bytes());
      if (!block) return {Code::machine_failed, block.error().what, ""};
      answer.outputs.push_back(std::move(*block));
    }
    memory().copy(answer.outputs[i].data(), output.data(), output.bytes());
    answer.magnitudes.push_back(memory().magnitude_of(parts_.definition.outputs[i].dtype, output.data(), count_of(i)));
  }
  answers_.push_back(std::move(answer));
  return {Code::correct, "", ""};
}

// A right answer to another draw: whoever looks at an output buffer cannot tell whether it has been filled. Not that of the draw before, which
// a cache might return: what was left alone and what was answered from a cache are told apart by it.
void Session::choose_stale(int number) {
  const Answer* chosen = &answers_.front();
  for (const Answer& answer : answers_)
    if (answer.draw <= number - 2) chosen = &answer;
  for (size_t i = 0; i < stale_.size(); ++i)
    memory().convert_expected(parts_.definition.outputs[i].dtype, chosen->outputs[i].data(), count_of(i), stale_[i].data());
}

bool Session::play(Column column) {
  const Draw draw = parts_.inputs.next(next_draw_++);
  if (Verdict verdict = compute_expected(draw); !verdict.correct()) {
    for (Player& player : players_) player.trial.verdict = verdict, player.out = true;
    return false;
  }
  choose_stale(draw.number);
  if (!memory().seals()) input_digests_ = digests_of(draw);
  const int epoch = parts_.inputs.epoch_of(draw.number);
  const bool plan = column == Column::cold || epoch != plan_epoch_;
  // A B, then B A: whatever drifts hits both alike.
  const int round = rounds_[column]++;
  const size_t n = players_.size();
  for (size_t i = 0; i < n; ++i) {
    Player& player = players_[round % 2 ? n - 1 - i : i];
    if (player.out) continue;
    parts_.inputs.hide(draw);
    if (plan) {
      CallTime time;
      const Verdict verdict = player.contestant->prepare(parts_.inputs.set_of(draw.number), Caches::flushed, time);
      parts_.stopwatch.move(Stopwatch::solutions, time.wall);
      if (!verdict.correct()) {
        player.trial.verdict = verdict, player.out = true;
        continue;
      }
      if (column == Column::cold) player.trial.samples[Column::cold].push_back({draw.number, static_cast<int>(i), time.wall, ""});
    }
    take_turn(player, draw, column, static_cast<int>(i));
    if (players_.front().out) return false;
  }
  hold_against_clocks(draw, column);
  twins_ += draw.parent >= 0;
  plan_epoch_ = epoch;
  return true;
}

// A call is worth comparing where the device was not held back while it ran, and as fast as it was for the others. Else the draw is discarded, and another takes
// its place as long as there is an end to it.
void Session::hold_against_clocks(const Draw& draw, Column column) {
  if (memory().last_cache_bytes() == 0 || column == Column::cold) return;
  std::vector<double> clocks;
  for (const Player& player : players_)
    if (!player.out && player.clock_mhz > 0) clocks.push_back(player.clock_mhz);
  std::string reason = memory().held_back();
  if (reason.empty()) reason = clocks_apart(clocks, clocks_);
  // Those of discarded draws too: a change that lasts is not an accident, and soon nothing to be discarded for.
  clocks_.insert(clocks_.end(), clocks.begin(), clocks.end());
  if (std::ssize(clocks_) > kRecentClocks) clocks_.erase(clocks_.begin(), clocks_.end() - kRecentClocks);
  if (reason.empty()) return;
  for (Player& player : players_)
    for (auto& [of, samples] : player.trial.samples)
      if (of == column || of == Column::host)
        for (Sample& sample : samples)
          if (sample.draw == draw.number) sample.discarded = reason;
  if (redrawn_ < parts_.request.max_draws / 2) ++redrawn_, --rounds_[column];
}

// One more call of the candidate, whose stream is held: what it has written before it is let go is work that the two events do not see.
bool Session::look_while_held() {
  Player& candidate = players_.front();
  if (candidate.contestant->synchronises()) return true;  // it is timed by the clock from end to end, which sees everything
  const Draw draw = parts_.inputs.next(next_draw_++);
  Verdict verdict = compute_expected(draw);
  if (verdict.correct()) {
    choose_stale(draw.number);
    if (!memory().seals()) input_digests_ = digests_of(draw);
    parts_.inputs.hide(draw);
    const int epoch = parts_.inputs.epoch_of(draw.number), set = parts_.inputs.set_of(draw.number);
    CallTime time;
    if (epoch != plan_epoch_) verdict = candidate.contestant->prepare(set, Caches::flushed, time);
    plan_epoch_ = epoch;
    std::vector<Buffer>& outputs = candidate.contestant->outputs();
    for (size_t i = 0; i < outputs.size(); ++i) memory().fill(outputs[i].data(), stale_[i].data(), stale_[i].bytes());
    if (verdict.correct()) verdict = candidate.contestant->run_held(set);
    if (verdict.correct()) verdict = check_inputs(draw);
    if (verdict.correct()) verdict = check(candidate, draw);
  }
  if (verdict.correct()) return true;
  candidate.trial.verdict = verdict;
  candidate.out = true;
  return false;
}

void Session::take_turn(Player& player, const Draw& draw, Column column, int position) {
  std::vector<Buffer>& outputs = player.contestant->outputs();
  for (size_t i = 0; i < outputs.size(); ++i) memory().fill(outputs[i].data(), stale_[i].data(), stale_[i].bytes());
  CallTime time;
  player.contestant->watch_outputs(true);
  const Caches caches = column == Column::resident ? Caches::resident : Caches::flushed;
  Verdict verdict = player.contestant->run(parts_.inputs.set_of(draw.number), caches, time, mode_of(column));
  parts_.stopwatch.move(Stopwatch::solutions, std::max(0.0, time.wall));
  player.clock_mhz = time.clock_mhz;
  if (verdict.correct()) verdict = check_inputs(draw);
  if (verdict.correct()) verdict = check(player, draw);
  // What was still to come when the worker heard that the call was over may have come before its outputs were compared.
  if (verdict.correct() && player.contestant->changed_since()) verdict = written_late(draw, "");
  if (!verdict.correct()) {
    player.trial.verdict = verdict;
    player.out = true;
    return;
  }
  if (time.ns < 0) {  // right, and not timed
    auto& cold = player.trial.samples[Column::cold];
    if (column == Column::cold && !cold.empty()) cold.back().discarded = "its first call waited for the device: only prepare() was timed";
    return;
  }
  const double net = net_time(time.ns, column == Column::end_to_end ? 0 : parts_.empty_turn_ns);
  auto& samples = player.trial.samples[column];
  if (column == Column::cold && !samples.empty()) {
    samples.back().ns += net;  // prepare() and the first run()
    return;
  }
  samples.push_back({draw.number, position, net, ""});
  if (column == Column::flushed && time.host >= 0) player.trial.samples[Column::host].push_back({draw.number, position, time.host, ""});
}

// Where a lent mapping could be made writable: what lies in the inputs is what was written there.
Verdict Session::check_inputs(const Draw& draw) {
  if (memory().seals()) return {Code::correct, "", ""};
  const std::vector<uint64_t> now = digests_of(draw);
  if (now == input_digests_) return {Code::correct, "", ""};
  const size_t changed = static_cast<size_t>(std::mismatch(now.begin(), now.end(), input_digests_.begin()).first - now.begin());
  return {Code::input_written, fmt::format("draw {}: it changed {}, an input that is lent read-only", draw.number, parts_.inputs.tensors()[changed]->name), ""};
}

std::vector<uint64_t> Session::digests_of(const Draw& draw) {
  std::vector<uint64_t> digests;
  for (const Buffer& input : parts_.inputs.set(parts_.inputs.set_of(draw.number))) digests.push_back(memory().digest(input.data(), input.bytes()));
  return digests;
}

Verdict Session::check(Player& player, const Draw& draw) {
  Accuracy& accuracy = player.trial.accuracy;
  ++accuracy.draws_checked;
  const Answer& answer = answers_.back();
  for (size_t i = 0; i < parts_.definition.outputs.size(); ++i) {
    const TensorSpec& tensor = parts_.definition.outputs[i];
    const auto shape = shape_of(parts_.definition, tensor, parts_.workload.axes);
    const int64_t count = element_count(shape);
    const Comparison found =
        memory().compare(tensor.dtype, player.contestant->outputs()[i].data(), answer.outputs[i].data(), answer.magnitudes[i], count, parts_.workload.tolerance,
                         parts_.definition.nan_policy);
    if (Status fine = memory().health(); !fine) return {Code::machine_failed, fine.error().what, ""};
    accuracy.worst_bound = std::max(accuracy.worst_bound, found.worst_bound);
    accuracy.worst_absolute = std::max(accuracy.worst_absolute, found.worst_absolute);
    accuracy.worst_relative = std::max(accuracy.worst_relative, found.worst_relative);
    accuracy.worst_norm = std::max(accuracy.worst_norm, found.norm);
    if (found.passes) continue;
    const std::string where = found.worst_index < 0 ? tensor.name : element_name(tensor.name, shape, found.worst_index);
    const std::string sentence =
        found.failing == 0
            ? fmt::format("draw {}: {} as a whole is off by {:.3g} of its norm (allowed {:.3g})", draw.number, tensor.name, found.norm, parts_.workload.tolerance.norm)
            : fmt::format("draw {}: {} of {} elements of {} are wrong; the worst, {}, is {:.6g}, expected {:.6g} ({:.3g} times the tolerance)", draw.number,
                          found.failing, count, tensor.name, where, found.got, found.want, found.worst_bound);
    return explain(player, draw, i, sentence, found.not_finite);
  }
  return {Code::correct, "", ""};
}

// Which promise was broken: the order goes from what is certain to what is left.
Verdict Session::explain(Player& player, const Draw& draw, size_t output, const std::string& sentence, bool not_finite) {
  const TensorSpec& tensor = parts_.definition.outputs[output];
  const int64_t count = count_of(output);
  if (player.contestant->changed_since()) return written_late(draw, sentence);
  const Buffer& got = player.contestant->outputs()[output];
  const int64_t untouched = memory().equal_elements(tensor.dtype, got.data(), stale_[output].data(), count);
  for (auto answer = answers_.rbegin() + 1; answer != answers_.rend(); ++answer) {
    const Comparison earlier =
        memory().compare(tensor.dtype, got.data(), answer->outputs[output].data(), answer->magnitudes[output], count, parts_.workload.tolerance, parts_.definition.nan_policy);
    if (!earlier.passes || untouched == count) continue;
    return {Code::stale, fmt::format("{}; it is the right answer to draw {}, an earlier call", sentence, answer->draw),
            draw.parent == answer->draw ? fmt::format("draw {} differs from draw {} in elements {} to {} of {} only", draw.number, draw.parent, draw.twin_begin,
                                                      draw.twin_end, draw.twin_input)
                                        : ""};
  }
  const std::vector<uint8_t> bytes = memory().to_host(got.data(), got.bytes());  // before anything goes on
  if (player.contestant->writes_late()) return {Code::late, sentence + "; the output went on changing after the call had returned", ""};
  if (untouched == count) return {Code::not_written, fmt::format("draw {}: {} still held what was there before the call", draw.number, tensor.name), ""};
  if (not_finite) return {Code::not_finite, sentence, ""};
  bool zeros = true;
  for (int64_t i = 0; zeros && i < count; ++i) zeros = load_element(tensor.dtype, bytes.data(), i) == 0;
  std::string evidence;
  if (zeros) evidence = "every element is zero";
  else if (untouched > count / 100) evidence = fmt::format("{} of {} elements still held what was there before the call", untouched, count);
  return {Code::wrong, sentence, evidence};
}

// A time that the candidate's process took is believed as far as the worker's clock bears it out.
void Session::hold_against_own_clock() {
  Player& candidate = players_.front();
  if (candidate.out || parts_.cancelled || memory().last_cache_bytes() == 0 || !parts_.times_count) return;
  const double claimed = candidate.trial.median_ns(Column::flushed), host = candidate.trial.median_ns(Column::host);
  if (!std::isfinite(claimed)) return;
  const DrawKey salt = derive_key(parts_.secret, parts_.workload.name, 0, "looks at bursts");
  const Slope slope =
      measure_slope({parts_.definition, parts_.workload, parts_.inputs, parts_.reference, *candidate.contestant, claimed, uint64_t{salt.words[0]} << 32 | salt.words[1], parts_.stopwatch});
  candidate.trial.verdict = slope.verdict;
  if (!slope.verdict.correct() || slope.ns < 0) return;
  const double longer = std::max(slope.ns, slope.cold_ns);
  candidate.trial.slope_ns = longer;
  switch (believe(claimed, std::isfinite(host) ? host : 0, slope.ns, slope.cold_ns)) {
    case Belief::agrees: break;
    case Belief::host_bound:
      for (Sample& sample : candidate.trial.samples[Column::flushed]) sample.ns *= longer / claimed;
      break;
    case Belief::refuted:
      candidate.trial.verdict = {Code::clock_not_believed,
                                 fmt::format("its process reported {:.2f} us a call, by the worker's clock a call more takes {:.2f} us longer", claimed / 1e3, longer / 1e3), ""};
  }
}

bool Session::enough() const {
  const EvaluateRequest& request = parts_.request;
  const auto found = rounds_.find(Column::flushed);
  if (found == rounds_.end() || found->second < request.min_draws) return false;
  if ((found->second - request.min_draws) % 2 != 0) return false;  // an interval costs a tenth of a draw
  WorkloadResult so_far;
  for (const Player& player : players_) so_far.trials.push_back(player.trial);
  const std::string fastest = fastest_baseline(so_far, Column::flushed);
  if (fastest.empty()) return found->second >= 2 * request.min_draws;
  if (request.give_up_below > 0 && players_.size() > 1) {
    const Interval first = bootstrap_midmean(paired_log_ratios(so_far.trials[0], so_far.trials[1], Column::flushed), 1, 200);
    if (first.high < std::log(request.give_up_below)) return true;
  }
  const Interval interval = bootstrap_midmean(paired_log_ratios(so_far.candidate(), *so_far.trial(fastest), Column::flushed), 1, 200);
  return (interval.high - interval.low) / 2 <= request.target_half_width;
}

void Session::finish(WorkloadResult& result) {
  for (Player& player : players_) {
    Trial& trial = player.trial;
    for (auto& [column, samples] : trial.samples) discard_interrupted(samples);
    if (!wants(parts_.request, Column::cold)) trial.samples.erase(Column::cold);
    if (parts_.cancelled && trial.verdict.correct() && rounds_[Column::flushed] < kLeastPairs) trial.verdict = {Code::cancelled, "the evaluation was cancelled", ""};
    if (trial.verdict.correct()) {
      const double ns = trial.median_ns(Column::flushed);
      const auto& samples = trial.samples[Column::flushed];
      const auto used = std::count_if(samples.begin(), samples.end(), [](const Sample& sample) { return sample.discarded.empty(); });
      if (used < kLeastPairs)
        trial.verdict = {Code::not_enough_evidence, fmt::format("only {} samples could be used; at least {} are needed", used, kLeastPairs), ""};
      else if (ns < parts_.floor_ns)
        trial.verdict = {Code::faster_than_possible,
                         fmt::format("a median of {:.1f} us; this machine needs {:.1f} us for the bytes and operations that cannot be avoided", ns / 1e3, parts_.floor_ns / 1e3), ""};
    }
    result.trials.push_back(std::move(trial));
  }
}

}  // namespace whet
