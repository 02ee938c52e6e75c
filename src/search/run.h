// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "search/optimize.h"
#include "search/workspace.h"

namespace whet {

// One run while it is driven. optimize() and resume() are the doors to it.
class Run {
 public:
  static Expected<std::unique_ptr<Run>> begin(const Files& task_files, const OptimizeOptions& options, const RunSetting& setting);
  static Expected<std::unique_ptr<Run>> reopen(const RunSetting& setting, double more_wall_seconds);

  Expected<OptimizeResult> drive();

 private:
  enum class Next { go_on, end };

  Run(OptimizeOptions options, RunSetting setting, Workspace workspace);
  Status load(const Files& task_files);
  Status replay();

  Status look_at_start();
  Expected<Next> one_step();
  Status confirm();
  Status judge_champion();
  bool goal_reached() const;
  OptimizeResult result() const;

  // Nothing when it was cancelled. What was judged is committed, applied and shown to the Agent.
  Expected<std::optional<JudgedRecord>> judge(Attempt what, const Patience& patience);
  Status take_in(const JudgedRecord& judged);
  Status commit_candidate(const JudgedRecord& judged);
  Expected<Files> files_from_ledger(const Manifest& manifest) const;
  Attempt attempt_of(const Files& files, Purpose purpose) const;

  double wall_seconds() const;
  Spent spent() const;
  bool stopped() const { return setting_.stop && *setting_.stop; }
  Patience patience(bool within_budget) const;
  void tell(Progress::Kind kind, std::string text, const Evaluation* evaluation = nullptr, const Json* worker = nullptr) const;

  OptimizeOptions options_;
  RunSetting setting_;
  Workspace workspace_;
  TaskFolder task_;
  Files start_;
  WorkerSeat worker_;
  std::unique_ptr<Agent> agent_;
  std::optional<Lineage> lineage_;
  std::map<std::string, Files> files_of_;         // solution hash -> folder, of this run
  std::map<std::string, std::string> commit_of_;  // solution hash -> commit
  int sequence_ = 0, steps_ = 0, idle_steps_ = 0;
  Usage usage_, unrecorded_;                      // all; of steps since the last record
  double device_seconds_ = 0, wall_before_ = 0, began_at_ = 0;
  bool last_call_told_ = false, extended_ = false;
  std::string ended_;
};

}  // namespace whet
