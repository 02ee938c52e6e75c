// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/evaluation.h"
#include "record/request.h"

namespace whet {

class Database;

// One Evaluation and what belongs to it: written in one transaction or not at all.
struct Judgement {
  std::string run;              // empty: outside any run
  int sequence = 0;             // in its run, from 0, without gaps
  std::string purpose;          // a word of the caller's
  EvaluateRequest request;
  std::string request_hash;
  Evaluation evaluation;
  std::string summary;          // what the author said about it
  std::vector<std::string> families;
  std::string usage = "{}";     // JSON: what the Step that led here cost
  double wall_seconds = 0;      // of the run, up to its end
  bool operator==(const Judgement&) const = default;
};

struct RunRow {
  std::string id, task, task_hash, director, agent;
  std::string options;          // JSON, for resume
  std::string folder;           // where its repository is
  std::string state = "running";  // running, or how it ended
  std::string started_at, ended_at;  // UTC, ISO 8601; given by the caller, but ended_at by end_run()
  int evaluations = 0;          // when read: how many were judged in it
  bool operator==(const RunRow&) const = default;
};

// A line of a listing.
struct EvaluationRow {
  std::string id, task, solution, solution_hash, set, started_at, run, purpose, summary;
  Code code = Code::not_run;
  int correct = 0, total = 0, at_par = 0;
  std::optional<Ratio> geomean;  // against the fastest
};

struct ListFilter {
  std::string task;              // name
  std::string solution;          // name, or the beginning of a hash
  std::string run;
  std::string purpose;
  std::optional<Code> code;
  int limit = 50;                // the newest; 0 = all
};

// The ledger: an SQLite file in which every Evaluation stays, whole. One transaction per fact; a program that is killed at any moment loses
// nothing that was reported as written, a power failure neither (synchronous=FULL). Every error names the file and the remedy.
// Not thread-safe; several programs may have one ledger open.
//
// Only the door (search/attempt) calls add(): what is not judged there is not in the ledger.
class Ledger {
 public:
  // Makes the file, not its folder, if it is absent; brings an older ledger up to date.
  static Expected<Ledger> open(const std::string& path);
  // The same, but an error if there is none.
  static Expected<Ledger> open_existing(const std::string& path);
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;
  ~Ledger();

  const std::string& path() const;

  // With all contents that the request's manifests name (sha256 -> contents; more are kept too). False, and nothing written, if this Evaluation is
  // there already. In a run, neither a sequence number nor a pair of Solution and request is taken twice: an error.
  Expected<bool> add(const Judgement& judgement, const std::map<std::string, std::string>& blobs);

  // The newest Evaluation of exactly this request for this Solution; of this run only, unless `run` is empty.
  Expected<std::optional<Evaluation>> find(const std::string& run, const std::string& solution_hash, const std::string& request_hash);
  Expected<Judgement> judgement(const std::string& id_or_prefix);  // a prefix that fits several is an error that lists them
  Expected<Evaluation> evaluation(const std::string& id_or_prefix);
  Expected<std::vector<Judgement>> judgements_of(const std::string& run);  // by sequence
  Expected<std::vector<EvaluationRow>> list(const ListFilter& filter);     // newest first

  Status add_blobs(const std::map<std::string, std::string>& blobs);
  Expected<std::string> blob(const std::string& sha256);  // checked against its hash
  Expected<std::map<std::string, std::string>> files(const Manifest& manifest);  // path -> contents

  Status begin_run(const RunRow& run);  // an id that is there already is an error
  Status end_run(const std::string& id, const std::string& state, const std::string& ended_at);
  Expected<RunRow> run(const std::string& id_or_prefix);
  Expected<std::vector<RunRow>> runs(int limit = 50);  // newest first; 0 = all

  // Everything that is wrong: SQLite's own check, blobs that are not their hash, Evaluations that cannot be read, manifests whose blobs are missing.
  Expected<std::vector<std::string>> check();

 private:
  explicit Ledger(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace whet
