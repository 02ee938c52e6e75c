// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/evaluation.h"
#include "truth/judge/inputs.h"
#include "truth/runner/process.h"

namespace whet {

// What is done to the call's buffers before it: flushed from every cache, read once, or nothing (the reference, whose time does not count).
enum class Caches { flushed, resident, as_they_are };

// How long a call took, in nanoseconds; negative: not measured.
struct CallTime {
  double ns = -1;    // what counts: by the worker's clock on a CPU; on a GPU device time as the runner reports it (the worker's clock in prepare)
  double wall = -1;  // by the worker's clock, everything around the call included
  double host = -1, end_to_end = -1;  // GPU, as the runner reports them
  double clock_mhz = 0;               // of the GPU's multiprocessors, meanwhile; 0: not known
  std::chrono::steady_clock::time_point returned;  // when `wall` ended
};

// One Solution that takes part in a judgement, in a process of its own: the candidate, a baseline, the reference, or a second process of one of
// them. Owns its output and workspace buffers. Every failure is a Verdict; after one that cost the process its life it is started anew by
// open().
class Contestant {
 public:
  Contestant(std::string name, RunnerOptions options, bool is_reference)
      : name_(std::move(name)), options_(std::move(options)), is_reference_(is_reference) {}

  const std::string& name() const { return name_; }
  const std::string& notes() const { return notes_; }
  const std::vector<Wall>& walls() const { return walls_; }

  // Starts the process if there is none, loads the Definition, lends the buffers. Closed by close() or by the next open().
  Verdict open(const Definition& definition, const Workload& workload, Inputs& inputs, const std::string& secret);
  void close();

  // prepare() with the weights and plans of a set; the workspace is zeroed before it.
  Verdict prepare(int set, Caches caches, CallTime& time);
  // One call. The caller has filled the outputs with something plausible.
  Verdict run(int set, Caches caches, CallTime& time, runner::Mode mode = runner::Mode::device);
  // GPU: sets of inputs, each with outputs of its own, for bursts; and `count` calls one after the other on those from `first` on, with one wait at the end.
  // Only `wall` is measured. Caches::flushed: a flush before each call; flushes() are those flushes and nothing else.
  Verdict open_burst(const std::vector<std::vector<Buffer>>& input_sets);
  Verdict burst(int first, int count, Caches caches, CallTime& time);
  Verdict flushes(int count, CallTime& time);
  // GPU: a call whose stream is held when it has returned: whatever it has written by then is work that is not ordered on that stream.
  Verdict run_held(int set);
  std::vector<Buffer>& burst_outputs(int set) { return burst_outputs_[static_cast<size_t>(set)]; }
  // Starts the process and loads nothing: for empty turns.
  Status start_idle();
  // An empty turn: what the worker's clock says of nothing; on a GPU the time between two events with nothing in between.
  Verdict empty_turn(double& ns);
  // GPU: run() waits for its own work, so no blocker can stand before it, and its time has the host's in it.
  bool synchronises() const { return synchronises_; }
  bool on_gpu() const { return options_.gpu.has_value(); }

  std::vector<Buffer>& outputs() { return outputs_; }
  // Whether run() compares what the outputs held when the Solution returned with what they hold once it is frozen. Not for the reference.
  void watch_outputs(bool watch) { watch_outputs_ = watch; }
  // After a wrong answer: lets the process go on and looks whether it still writes.
  bool writes_late();
  // GPU, where the process is not frozen: whether the outputs have changed since the worker heard that the call was over. By a sample whose places the
  // process does not know.
  bool changed_since();
  // GPU: inputs are lent writable, for a diagnosis.
  void lend_inputs_writable() { inputs_writable_ = true; }
  bool alive() const { return runner_ && !runner_->dead(); }
  // Empty: whatever its table says. Else it is not started for any other.
  void runs_only(std::vector<std::string> definitions) { definitions_ = std::move(definitions); }
  void set_call_limit(std::chrono::milliseconds limit) { limit_ = limit; }

 private:
  Verdict start(const Definition& definition);
  bool runs(const std::string& definition) const;
  Verdict turn(runner::Op op, int set, Caches caches, const runner::Kind& kind, CallTime& time, const std::function<void()>& while_held = nullptr);
  Verdict device_turn(int set, Caches caches, CallTime& time, runner::Mode mode);
  Verdict explain_device_error(const Verdict& verdict, int set);
  std::string input_it_writes(int set);
  uint64_t fresh_salt();
  void set_caches(int set, Caches caches);
  Verdict check_red_zones(const std::string& during);
  uint64_t digest_of_outputs() const;
  uint64_t sample_of_outputs(uint64_t salt) const;

  std::string name_;
  RunnerOptions options_;
  bool is_reference_;
  std::unique_ptr<Runner> runner_;
  std::string loaded_;  // the Definition that the process has loaded
  std::map<std::string, Verdict> refused_;  // by Definition: why it could not be loaded
  std::vector<std::string> definitions_;
  Inputs* inputs_ = nullptr;
  const Definition* definition_ = nullptr;
  const Workload* workload_ = nullptr;
  std::string secret_;
  std::vector<Buffer> outputs_;
  std::optional<Buffer> workspace_;
  std::vector<std::string> output_names_;
  std::chrono::milliseconds limit_{10000};
  std::vector<std::vector<Buffer>> burst_outputs_;
  bool synchronises_ = false;
  int runs_ = 0;               // since open()
  bool inputs_writable_ = false;
  bool watch_outputs_ = true;
  int salts_ = 0;
  uint64_t kept_salt_ = 0, kept_sample_ = 0;
  std::string notes_;
  std::vector<Wall> walls_;
};

}  // namespace whet
