// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "record/kernel_facts.h"
#include "record/scoreboard.h"
#include "record/verdict.h"

namespace whet {

// What a time was taken of. The score column is `flushed`: steady state, the call's buffers flushed from every cache, wall clock of the worker.
// `resident`: fresh contents, read once before the call. `cold`: prepare() and the first run() of a plan, in a process that has run nothing else
// of that workload. On a GPU `flushed` and `resident` are device time, between two events behind a kernel that blocks the stream until the call has
// been submitted; `host` is how long run() kept the host, `end_to_end` from before run() until the device was done, `graph` as flushed, of a graph
// into which run() was captured.
enum class Column { flushed, resident, cold, host, end_to_end, graph };
std::string_view name_of(Column column);
std::optional<Column> column_from_name(std::string_view name);

struct Sample {
  int draw = 0;           // which draw of inputs; samples of one workload with the same draw and column saw the same inputs
  int position = 0;       // the Solution's place in the order of that draw (A B, then B A)
  double ns = 0;          // wall time by the worker's clock, less the time of an empty call
  std::string discarded;  // empty = used; else the reason
  bool operator==(const Sample&) const = default;
};

// How far the outputs were from the expected ones: the worst over all draws and outputs.
struct Accuracy {
  double worst_bound = 0;   // max over elements of |got - want| / (rtol |want| + atol rms(want)); <= 1 passes
  double worst_absolute = 0;
  double worst_relative = 0;
  double worst_norm = 0;    // max over tensors of ||got - want|| / ||want||
  int draws_checked = 0;
  bool operator==(const Accuracy&) const = default;
};

// One Solution on one workload.
struct Trial {
  std::string solution;                          // folder or given name; the candidate is always first
  std::string role;                              // candidate, baseline, other (timed beside them, never "the fastest")
  Verdict verdict;
  Accuracy accuracy;
  std::map<Column, std::vector<Sample>> samples;
  double slope_ns = 0;                           // GPU: what one call more costs by the worker's clock; 0 = not measured
  double median_ns(Column column) const;         // of the samples that were used; NaN when there is none
  bool operator==(const Trial&) const = default;
};

struct WorkloadResult {
  std::string workload, definition, family;
  double floor_ns = 0;                           // the physical floor; 0 = unknown
  std::vector<Trial> trials;
  const Trial* trial(std::string_view solution) const;
  const Trial& candidate() const { return trials.front(); }
  bool operator==(const WorkloadResult&) const = default;
};

// The candidate on a workload that was drawn for this judgement alone, within the task's ranges: whether it is right there. No time is kept.
struct HiddenResult {
  std::string workload;  // "attention_f32, batch 1, q_len 17, ..."
  Verdict verdict;
  Accuracy accuracy;
  bool operator==(const HiddenResult&) const = default;
};

// What is known of a Solution apart from its times.
struct SolutionFacts {
  std::string name, role;
  std::string hash;             // solution_hash
  std::string artifact;         // sha256 of the shared library; empty if it was not built
  std::string notes;            // what the Solution says of itself: library version, chosen kernel
  std::vector<std::string> commands;  // compile and link commands
  double build_seconds = 0;
  KernelReport device = {};       // "device_code", of CUDA Solutions; in JSON absent where there is none, and in what was written before there could be
  bool operator==(const SolutionFacts&) const = default;
};

// Where the seconds of a judgement went. `judge` = generating inputs, flushing, prefilling, checking, statistics, starting processes.
struct TimeSpent {
  double build = 0, reference = 0, solutions = 0, judge = 0, total = 0;
  double admission = 0;         // part of the total; the runs of the reference for mutants, done once per task version
  bool operator==(const TimeSpent&) const = default;
};

// All that was measured about one Solution on one Task. The ledger keeps it whole.
struct Evaluation {
  std::string id;               // "e" + 16 hex digits of its contents' hash; given by the worker
  std::string task, task_hash;
  std::string solution, solution_hash;
  std::string set;              // the named set, or "custom"
  std::string started_at;       // UTC, ISO 8601
  std::string worker;           // version and sha256 of the worker program
  std::string secret;           // the key of the draws, hex; revealed here, after the Verdict
  Verdict verdict;              // correct only if every workload is, hidden ones too; else the first bad one by severity
  std::vector<SolutionFacts> solutions;
  std::vector<WorkloadResult> workloads;
  std::vector<HiddenResult> hidden;
  double noise_floor = 0;       // of ln(ratio), from A/A on this machine in this session
  Scoreboard scoreboard;
  TimeSpent seconds;
  std::string environment;      // JSON text: CPU, caches, governor, compiler, library versions, walls of the jail
  std::vector<std::string> remarks;  // hints of the guard, walls that are down, workloads not admitted
  bool operator==(const Evaluation&) const = default;
};

// {"code": 300, "name": "wrong", "sentence": .., "evidence": ..}
Json to_json(const Verdict& verdict);
// Samples stand as one list per field and column. NaN and infinities are strings. Bytes that are not UTF-8 (a compiler's log, say) make
// Json::dump() throw unless it is told to replace them.
Json to_json(const Evaluation& evaluation);
// Strict: what to_json wrote is read back equal. Anything else is an error that names the key.
Expected<Evaluation> evaluation_from_json(const Json& json, const std::string& where);

// The id that its contents give it: "e" and 16 hex digits, over everything but `id`.
std::string evaluation_id(const Evaluation& evaluation);

}  // namespace whet
