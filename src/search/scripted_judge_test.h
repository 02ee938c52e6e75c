// SPDX-License-Identifier: Apache-2.0
//
// A worker and a ledger for tests. The judge computes times from the choices in the candidate's source, over a synthetic landscape; its noise is a
// function of the request, so a run that is repeated or resumed sees the same figures. Both can be told to fail.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "search/optimize.h"

namespace whet::scripted {

// Thrown where a crash is simulated: it leaves optimize() at once, as if the process had died, but runs destructors (the lock is released).
struct Crash {};

// rmsnorm-cpu with two families (alpha: tiny, odd-hidden; beta: wide, small-values) of three choices each.
Files task_files();
// Its choices.h with these values.
std::string choices_source(int alpha_path, int alpha_tile, int alpha_threads, int beta_path, int beta_tile, int beta_threads);

// What all fake workers of a test share: they come and go, this stays.
struct World {
  double noise = 0.01;               // standard deviation of ln(time) of a sample
  bool flat = false;                 // all configurations cost the same
  double seconds_per_evaluation = 1; // by which the clock advances
  double now = 0;
  int evaluations = 0, workers = 0, boundary = 0;
  int die_in = -1;                   // the evaluation (counted from now) in which the worker dies, -1 never
  int deaths = 1;                    // how often it then dies in a row
  int machine_failures = 0;          // so many evaluations from now on lose the candidate's process to the machine
  std::function<void()> at_boundary; // called before and after each evaluation and each write to the store
  std::map<std::string, int> judged; // request JSON -> how often it was answered
  std::map<std::string, std::string> blobs;
  std::atomic<bool> cancelled{false};  // by a client, of the evaluation under way
  bool cancel_all = false;

  void pass_boundary() {
    ++boundary;
    if (at_boundary) at_boundary();
  }
};

OpenWorker open_worker(World& world);

// ln(time) of a workload under the choices, relative to the best.
double cost(const World& world, const std::string& family, const std::map<std::string, std::string>& choices);

class MemoryStore final : public Store {
 public:
  explicit MemoryStore(World& world) : world_(world) {}
  Expected<std::optional<Evaluation>> find(const std::string& run, const std::string& solution_hash, const std::string& request_hash) override;
  Status record(const JudgedRecord& judged, const std::map<std::string, std::string>& blobs) override;
  Expected<std::string> blob(const std::string& sha256) override;
  Status begin_run(const RunRecord& run) override;
  Status end_run(const std::string& id, const std::string& status) override;
  Expected<RunRecord> run(const std::string& id) override;
  Expected<std::vector<JudgedRecord>> judged(const std::string& run) override;

  std::vector<JudgedRecord> records;
  std::map<std::string, RunRecord> runs;

 private:
  World& world_;
  std::map<std::string, std::string> blobs_;
};

}  // namespace whet::scripted
