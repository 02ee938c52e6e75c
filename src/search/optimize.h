// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <string>

#include "search/attempt.h"
#include "search/budget.h"
#include "search/lineage.h"

namespace whet {

// What happens in a run, for whoever shows it. `worker` messages come many times a second.
struct Progress {
  enum class Kind { begun, resumed, phase, worker, judged, champion, refused, last_call, ended };
  Kind kind = Kind::phase;
  std::string text;             // one line
  int step = 0, candidates = 0, champion = 0;
  double seconds_used = 0, seconds_left = 0;  // left: infinite without a limit
  double share_used = 0;        // of the nearest limit, 0 to 1: the bar
  Lineage::Standing standing;
  const Evaluation* evaluation = nullptr;  // judged, champion
  const Json* worker = nullptr;            // worker: its notification
};

struct OptimizeOptions {
  std::string agent = "tuner";
  std::string set = "full";
  Budget budget;                // of the search; the confirmation of a challenge that has won and the final judgement come on top
  uint64_t seed = 1;
  bool stop_at_goal = false;    // end when the standing reaches the goal
  EvaluateRequest final;        // settings of the final judgement (its set is `set`)
};

// Where a run lives and whom it calls.
struct RunSetting {
  std::string run_id;           // a new one for optimize(): letters, digits, '-'
  std::string folder;           // of this run
  Store* store = nullptr;
  OpenWorker open_worker;
  const std::atomic<bool>* stop = nullptr;  // Ctrl-C: what runs is cancelled, the run can be resumed
  std::function<void(const Progress&)> progress;
  std::function<double()> clock;            // seconds, monotonic; for tests. Absent: the machine's
};

struct OptimizeResult {
  std::string run_id;
  std::string ended;            // "budget: ...", "finished: ...", "goal met", "stopped"
  int steps = 0, candidates = 0, champions = 0;
  std::string champion_hash, champion_commit, confirmed_by;
  Files champion;
  Lineage::Standing standing;
  Evaluation baseline;
  std::optional<Evaluation> final;   // the champion against the task's baselines and `start`; absent when stopped
  double seconds = 0;
};

// Takes the task's start Solution, lets the Agent make Candidates of it until the budget, the Agent or the user ends it, and judges the champion in full.
// Every Evaluation is in the ledger and every Candidate in the run's repository before the next thing begins, so that a run that is killed at any
// moment goes on with resume() and judges nothing again. Errors: bad input (task, agent, choices) and a machine that failed; in the
// latter case too the run can be resumed.
Expected<OptimizeResult> optimize(const Files& task_files, const OptimizeOptions& options, const RunSetting& setting);

// Goes on with a run that was stopped or killed, under its own options; of a run that has ended it gives the result, unless
// `more_wall_seconds`, which is added to its wall limit, is positive.
Expected<OptimizeResult> resume(const RunSetting& setting, double more_wall_seconds = 0);

Json to_json(const OptimizeOptions& options);
Expected<OptimizeOptions> optimize_options_from_json(const Json& json, const std::string& where);

}  // namespace whet
