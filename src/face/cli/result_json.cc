// SPDX-License-Identifier: Apache-2.0
#include "face/cli/result_json.h"

#include <algorithm>

#include "base/json_impl.h"
#include "score/scoreboard.h"

namespace whet {
namespace {

Json to_json(const TimeSpent& seconds) {
  return Json{{"build", seconds.build},         {"reference", seconds.reference}, {"solutions", seconds.solutions},
              {"judge", seconds.judge},         {"total", seconds.total},         {"admission", seconds.admission}};
}

bool is_of(const Trial& trial, const std::string& baseline) { return trial.role != "candidate" && trial.solution == baseline; }

}  // namespace

Json result_of(const Evaluation& evaluation, const std::string& ledger) {
  Json json{{"scoreboard", to_json(evaluation.scoreboard)},
              {"task", evaluation.task},
              {"task_hash", evaluation.task_hash},
              {"solution", evaluation.solution},
              {"solution_hash", evaluation.solution_hash},
              {"set", evaluation.set},
              {"verdict",
               {{"code", static_cast<int>(evaluation.verdict.code)}, {"name", name_of(evaluation.verdict.code)}, {"sentence", evaluation.verdict.sentence}}},
              {"noise_floor", evaluation.noise_floor},
              {"evaluation", evaluation.id},
              {"ledger", ledger},
              {"started_at", evaluation.started_at},
              {"worker", evaluation.worker},
              {"remarks", evaluation.remarks},
              {"seconds", to_json(evaluation.seconds)}};
  for (const SolutionFacts& facts : evaluation.solutions)
    if (facts.role == "candidate" && !facts.device.empty()) json.update(to_json(facts.device));
  return json;
}

Json result_of(const OptimizeResult& result, const Task& task, const std::string& ledger, const std::string& folder) {
  Json json = Json::object();
  if (result.final) {
    json = result_of(without_baseline(*result.final, task.start, task.goal), ledger);
    if (const auto gain = geomean_against(*result.final, task.start)) json["start"] = {{"geomean", to_json(*gain)}, {"solution", task.start}};
  } else {
    // Stopped before the final judgement: the keys stand there, and say that nothing is known.
    json = {{"scoreboard", nullptr}, {"task", task.name}, {"ledger", ledger}};
  }
  json["run"] = {{"id", result.run_id},
                 {"folder", folder},
                 {"ended", result.ended},
                 {"steps", result.steps},
                 {"candidates", result.candidates},
                 {"champions", result.champions},
                 {"champion", result.champion_hash},
                 {"commit", result.champion_commit},
                 {"confirmed_by", result.confirmed_by},
                 {"seconds", result.seconds}};
  return json;
}

Evaluation without_baseline(const Evaluation& evaluation, const std::string& baseline, const Goal& goal) {
  Evaluation kept = evaluation;
  for (WorkloadResult& workload : kept.workloads) std::erase_if(workload.trials, [&](const Trial& trial) { return is_of(trial, baseline); });
  std::erase_if(kept.solutions, [&](const SolutionFacts& facts) { return facts.role != "candidate" && facts.name == baseline; });
  kept.scoreboard = score(kept, goal);
  return kept;
}

std::optional<Ratio> geomean_against(const Evaluation& evaluation, const std::string& baseline) {
  Evaluation only = evaluation;
  for (WorkloadResult& workload : only.workloads) {
    std::erase_if(workload.trials, [&](const Trial& trial) { return trial.role != "candidate" && !is_of(trial, baseline); });
    for (Trial& trial : workload.trials)
      if (trial.role != "candidate") trial.role = "baseline";
  }
  return score(only, {}).geomean_vs_fastest;
}

}  // namespace whet
