// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "record/evaluation.h"
#include "record/request.h"
#include "record/task.h"
#include "truth/build/builder.h"
#include "truth/build/python.h"
#include "truth/gpu/gpu_facts.h"
#include "truth/judge/admission.h"
#include "truth/judge/contestant.h"
#include "truth/judge/examination.h"
#include "truth/machine/ceilings.h"

namespace whet {

struct JudgeOptions {
  std::string program;                             // the worker's own executable
  std::string worker_version;                      // version and hash of that program, for the Evaluation
  std::filesystem::path cache_folder;
  std::string abi_header;                          // contents of whet/candidate.h
  int gpu = -1;                                    // the device by CUDA's number; -1: the CPU
  std::vector<int> cores;                          // lent to Solutions; empty = all that we may use
  std::map<std::string, std::string> environment;  // of Solutions
  std::vector<std::string> nvcc_folders;           // where nvcc is looked for before /usr/local/cuda/bin
  std::vector<std::string> python_folders;         // where python3 is looked for first: those of PATH
  std::string_view python_runner;                  // contents of whet-python-runner.so; empty: this worker was built without it
};

// A task and the Solutions of one judgement, read and checked.
struct JudgeInput {
  Task task;
  std::string task_hash;
  Solution candidate;
  std::string candidate_name;
  // Those of the task are what the candidate is held against; others (the start, an earlier champion) are timed beside them and never count
  // as "the fastest".
  struct Opponent {
    std::string name;
    Solution solution;
    std::string role = "baseline";  // or other
  };
  std::vector<Opponent> baselines;
  EvaluateRequest request;
};

using Progress = std::function<void(const Json&)>;

// The trusted procedure. One Judge is one session: what it learns of the machine (ceilings, the empty turn, the noise floor) it keeps.
class Judge {
 public:
  static Expected<Judge> make(JudgeOptions options);

  // An Error is a failure of the machine or of the request; whatever the Solution does is in the Evaluation.
  Expected<Evaluation> evaluate(const JudgeInput& input, const Progress& progress, const std::atomic<bool>& cancelled);

  Expected<BuildOutcome> build(const Solution& solution);
  Json describe_machine() const;

 private:
  struct Work;  // the state of one judgement

  Judge() = default;
  Status build_all(Work& work, const Progress& progress);
  Status admit(Work& work, const Progress& progress, const std::atomic<bool>& cancelled);
  Expected<Admission> admission_of(Work& work, const Workload& workload, Contestant& reference, ReferenceTwin& twin, const std::set<std::string>& settled);
  Status learn_session(Work& work, const Progress& progress);
  static std::string opponent_of_noise(const Work& work);
  void measure(Work& work, const Progress& progress, const std::atomic<bool>& cancelled);
  void try_hidden(Work& work, const Progress& progress, const std::atomic<bool>& cancelled);
  void conclude(Work& work);
  double floor_ns(const Definition& definition, const Workload& workload) const;
  // What a contestant is made of: where its artifact lies, and whether that is Python.
  struct Part {
    std::filesystem::path artifact;
    bool in_python = false;
    std::vector<std::string> definitions;  // of its solution.json
  };
  enum class Role { candidate, baseline, reference };
  std::unique_ptr<Contestant> contestant(const std::string& name, const Part& part, Role role) const;
  // Looks for python3 and puts our library where it can be loaded, once.
  Expected<const Python*> python();

  JudgeOptions options_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<Builder> builder_;
  Ceilings ceilings_;            // of the CPU, when that is judged
  std::optional<GpuFacts> gpu_;
  double empty_turn_ns_ = -1;
  std::map<std::string, double> noise_floor_;  // by task hash
  std::vector<Wall> walls_;
  std::optional<Python> python_;
  std::filesystem::path python_runner_;  // in the cache
};

}  // namespace whet
