// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/evaluation.h"
#include "record/task.h"

namespace whet {

struct Usage {
  int64_t tokens = 0;
  double dollars = 0;
  Usage& operator+=(const Usage& other) {
    tokens += other.tokens;
    dollars += other.dollars;
    return *this;
  }
  bool operator==(const Usage&) const = default;
};

// How much measuring a Candidate deserves, as far as its author knows. A challenge is judged on the run's whole set whatever stands here.
struct Effort {
  bool challenge = true;               // it is to become champion; false: the author only wants to know
  std::vector<std::string> workloads;  // by name; not empty when it is no challenge
  int min_draws = 4, max_draws = 10;
  double seconds_per_workload = 0.5;
  double give_up_below = 0;            // EvaluateRequest::give_up_below
  bool operator==(const Effort&) const = default;
};

// What an Agent needs for one Step.
struct StepContext {
  std::string clone;        // its working folder, which stands at the champion; what it leaves there is the Candidate
  std::string brief;        // what the Director tells it; empty for an Agent that needs none
  double seconds_left = 0;  // until the hard stop
  bool last_call = false;   // a soft stop was reached: hand in the best that you have, explore no more
  const std::atomic<bool>* stop = nullptr;  // set when the user wants to end; a long step then returns soon
};

// What a Step comes to.
struct StepReport {
  bool finished = false;    // nothing more to try; the clone is not looked at
  std::string summary;      // one line for people and for the lineage
  std::vector<std::string> families;  // workload families that it worked on; empty = not said
  Effort effort;
  Usage usage;
};

// One Evaluation in the past of the run. Files are the Solution's folder (path -> contents).
struct Judged {
  const std::map<std::string, std::string>& files;
  const std::map<std::string, std::string>* champion;  // judged against this one, named kChampion; null: against the task's baselines
  const Evaluation& evaluation;
};
inline constexpr const char* kChampion = "champion";  // the baseline's name in such an Evaluation

// Who acts. An Agent keeps no files of its own: after a crash, a new one is shown the past, one observe() per Evaluation in their order, and must
// be able to go on from there.
class Agent {
 public:
  virtual ~Agent() = default;
  virtual Expected<StepReport> step(const StepContext& context) = 0;
  virtual Status observe(const Judged& judged) = 0;
};

struct AgentSetup {
  const Task* task = nullptr;                  // outlives the Agent
  std::string set = "full";                    // the workloads that count
  std::map<std::string, std::string> start;    // the start Solution's folder
  uint64_t seed = 1;
};

// `uri`: "tuner". Unknown ones are an error that lists the known ones.
Expected<std::unique_ptr<Agent>> make_agent(const std::string& uri, const AgentSetup& setup);

}  // namespace whet
