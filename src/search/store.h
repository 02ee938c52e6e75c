// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "direction/agent/agent.h"
#include "record/evaluation.h"
#include "record/request.h"

namespace whet {

// Why something was judged.
enum class Purpose { evaluate, baseline, trial, challenge, confirm, final, compare, recheck };
std::string_view name_of(Purpose purpose);
std::optional<Purpose> purpose_from_name(std::string_view name);

// One Evaluation and what belongs to it: written in one transaction or not at all.
struct JudgedRecord {
  std::string run;             // empty: outside any run
  int sequence = 0;            // in its run, from 0, without gaps
  Purpose purpose = Purpose::evaluate;
  EvaluateRequest request;
  std::string request_hash;    // of the request as JSON
  Evaluation evaluation;
  std::string summary;         // what the author said about it
  std::vector<std::string> families;
  Usage usage;                 // of the Step that led here
  double wall_seconds = 0;     // of the run, up to its end
};

struct RunRecord {
  std::string id, task, task_hash, agent, started_at;
  std::string folder;          // the run's, where its repository is
  std::string options;         // JSON, for resume
  std::string status = "running";  // running, or how it ended
};

// What the search needs of the ledger.
class Store {
 public:
  virtual ~Store() = default;
  // The Evaluation of exactly this request for this Solution, if there is one; of this run only when `run` is not empty (times of another session,
  // with another noise floor, are no yardstick for this one).
  virtual Expected<std::optional<Evaluation>> find(const std::string& run, const std::string& solution_hash, const std::string& request_hash) = 0;
  // One transaction; `blobs` (sha256 -> contents) are all contents that the request's manifests name.
  virtual Status record(const JudgedRecord& judged, const std::map<std::string, std::string>& blobs) = 0;
  virtual Expected<std::string> blob(const std::string& sha256) = 0;

  virtual Status begin_run(const RunRecord& run) = 0;
  virtual Status end_run(const std::string& id, const std::string& status) = 0;
  virtual Expected<RunRecord> run(const std::string& id) = 0;  // bad input if there is none
  virtual Expected<std::vector<JudgedRecord>> judged(const std::string& run) = 0;  // by sequence
};

}  // namespace whet
