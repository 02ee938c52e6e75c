// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <vector>

#include "record/request.h"
#include "truth/judge/contestant.h"
#include "truth/judge/inputs.h"
#include "truth/judge/stopwatch.h"

namespace whet {

// One workload of a judgement: the Solutions take turns on the same draws, every output of every call is checked.
class Session {
 public:
  struct Parts {
    const Definition& definition;
    const Workload& workload;
    Inputs& inputs;
    Contestant& reference;
    std::vector<Contestant*> solutions;  // the candidate first
    std::vector<std::string> roles;      // beside them
    const EvaluateRequest& request;
    const std::string& secret;
    double empty_turn_ns = 0;            // subtracted from every time
    double floor_ns = 0;
    const std::atomic<bool>& cancelled;
    Stopwatch& stopwatch;
    bool times_count = true;             // not for a hidden workload
  };

  explicit Session(Parts parts) : parts_(std::move(parts)) {}

  WorkloadResult run();

 private:
  struct Player {
    Contestant* contestant;
    Trial trial;
    bool out = false;  // it failed: it takes no more turns
    double clock_mhz = 0;  // of the GPU during its last turn
  };

  Memory& memory() const { return parts_.inputs.memory(); }
  Verdict open();
  int64_t count_of(size_t output) const;  // elements
  Verdict compute_expected(const Draw& draw);
  Verdict keep_answer(int draw);
  void choose_stale(int number);
  bool play(Column column);  // one draw; false when nothing more can be learned
  void take_turn(Player& player, const Draw& draw, Column column, int position);
  void hold_against_clocks(const Draw& draw, Column column);
  bool look_while_held();
  Verdict check_inputs(const Draw& draw);
  std::vector<uint64_t> digests_of(const Draw& draw);
  Verdict check(Player& player, const Draw& draw);
  Verdict explain(Player& player, const Draw& draw, size_t output, const std::string& sentence, bool not_finite);
  bool enough() const;
  void hold_against_own_clock();
  void finish(WorkloadResult& result);

  Parts parts_;
  std::vector<Player> players_;
  int next_draw_ = 0;
  int plan_epoch_ = -1;
  std::map<Column, int> rounds_;
  std::vector<double> clocks_;  // of the GPU, of the last few turns
  int redrawn_ = 0;
  std::vector<uint64_t> input_digests_;  // of this draw, where inputs are not sealed
  int twins_ = 0;  // draws so far that were one
  struct Answer {
    int draw;
    std::vector<Block> outputs;   // in reference_dtype
    std::vector<Magnitude> magnitudes;  // of each
  };
  std::deque<Answer> answers_;  // of the draws so far, the newest last; old ones go when they take too much memory
  std::vector<Block> stale_;    // what the outputs are filled with before a call, in the Definition's dtypes
};

}  // namespace whet
