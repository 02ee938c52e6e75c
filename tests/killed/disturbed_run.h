// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process.h"
#include "tests/killed/processes.h"
#include "tests/killed/soundness.h"

namespace whet {

// Whom to kill: whet, its worker, or a process in a jail of the worker's (a Solution's runner, or a compiler).
enum class Kind { whet, worker, jailed };
inline constexpr const char* kKinds[] = {"whet", "worker", "runner"};

struct Kill {
  Kind kind = Kind::whet;
  double moment = 0;  // seconds that whet had been at work
};

// What became of one.
struct Outcome {
  Kill kill;
  std::string victim;  // its name
  std::string then;
};

// A run of `whet optimize` in a folder of its own, with a ledger and a cache that were empty; after a kill, of one whet after the other. What has to
// hold is expected with GoogleTest.
class DisturbedRun {
 public:
  explicit DisturbedRun(uint64_t seed);
  ~DisturbedRun();

  // To the run's end, with these kills on the way. Those for which the run was too short are missing in outcomes().
  void drive(std::vector<Kill> kills);
  // What killed workers left is gone when another one has begun.
  void expect_no_remains();

  double seconds() const { return active_; }  // for which a whet was at work
  const std::vector<Outcome>& outcomes() const { return outcomes_; }
  const std::string& said() const { return said_; }  // what whet wrote to stderr, all of them

 private:
  std::filesystem::path ledger() const { return folder_.path() / "l.db"; }
  std::string read(const std::string& name) const { return read_file(folder_.path() / name).value_or(""); }

  void begin(const std::string& verb, const std::string& options);
  void optimize();
  void resume() { begin("resume ./r", "--ledger l.db --json result.json"); }
  bool ended();
  void nap();
  bool reach(double moment);
  bool go_on_after_end();

  std::vector<Descendant> victims(Kind kind);
  void strike(const Kill& kill);
  void strike_whet();
  std::vector<Descendant> orphans();
  void remember(const Recorded& recorded);

  std::mt19937_64 random_;
  TemporaryDirectory folder_;
  Process whet_;
  std::string verb_, said_;
  double active_ = 0;
  std::chrono::steady_clock::time_point looked_at_;
  Recorded known_;  // of the ledger when it was last looked at
  std::vector<Outcome> outcomes_;
  std::vector<pid_t> workers_;  // that had begun when somebody was killed
};

}  // namespace whet
