// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/task.h"
#include "search/store.h"
#include "search/worker_seat.h"

namespace whet {

using Files = std::map<std::string, std::string>;  // path -> contents

// The task as the door needs it. `files` is the task's whole folder, of which `task` is the reading.
struct TaskFolder {
  Task task;
  Files files;
};

// What is taken from an author: the files that the task declares editable, from `candidate`; all else from `start`. Editable files that the author
// removed are gone. Whatever else he changed does not exist.
Files take_editable(const Task& task, const Files& start, const Files& candidate);

// The content address of a Solution's folder; an error that lists what is wrong with its solution.json.
Expected<std::string> hash_of(const Files& solution, const std::string& where);

struct NamedSolution {
  std::string name;
  Files files;  // empty: the task's Solution of that name
};

// One thing to be judged.
struct Attempt {
  NamedSolution solution;
  std::optional<std::vector<NamedSolution>> baselines;  // absent: the task's
  EvaluateRequest settings;      // set, workloads, columns, draws, ...; the manifests are filled in here
  Purpose purpose = Purpose::evaluate;
  bool reuse = true;             // false: measure again even if the ledger has exactly this
  std::string run;               // with the sequence in it, and what the Step cost
  int sequence = 0;
  std::string summary;
  std::vector<std::string> families;
  Usage usage;
  std::function<double()> wall_seconds;  // of the run, asked when the Evaluation is there
};

struct Attempted {
  JudgedRecord judged;           // when reused: only request, request_hash and evaluation are filled in
  bool reused = false;           // it was in the ledger
  bool cancelled = false;        // not in the ledger: it proves nothing
};

// The door between direction and truth: a Solution goes in, an Evaluation comes out, and both are in the ledger before it is returned. Whatever
// evaluates (evaluate, compare, recheck, optimize) comes through here. An Evaluation in which the machine failed is never reused; in a run it is an Error,
// and not in the ledger.
Expected<Attempted> attempt(const TaskFolder& task, const Attempt& what, WorkerSeat& worker, Store& store, const Patience& patience = {},
                            const std::function<void(const Json&)>& progress = nullptr);

// Measures an old Evaluation again with fresh draws: same task, Solution, baselines and settings, all from the ledger's blobs.
Expected<Attempted> measure_again(const JudgedRecord& old, WorkerSeat& worker, Store& store, const Patience& patience = {},
                                  const std::function<void(const Json&)>& progress = nullptr);

}  // namespace whet
