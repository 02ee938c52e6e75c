// SPDX-License-Identifier: Apache-2.0
#include "search/optimize.h"

#include "base/json_impl.h"
#include "search/run.h"

namespace whet {

Expected<OptimizeResult> optimize(const Files& task_files, const OptimizeOptions& options, const RunSetting& setting) {
  WHET_TRY(const std::unique_ptr<Run> run, Run::begin(task_files, options, setting));
  return run->drive();
}

Expected<OptimizeResult> resume(const RunSetting& setting, double more_wall_seconds) {
  WHET_TRY(const std::unique_ptr<Run> run, Run::reopen(setting, more_wall_seconds));
  return run->drive();
}

Json to_json(const OptimizeOptions& options) {
  EvaluateRequest final = options.final;
  final.solution.name = kChampion;  // a request without one is refused when it is read
  return Json{{"agent", options.agent},   {"set", options.set},
              {"budget", to_json(options.budget)}, {"seed", options.seed},
              {"stop_at_goal", options.stop_at_goal}, {"final", to_json(final)}};
}

Expected<OptimizeOptions> optimize_options_from_json(const Json& json, const std::string& where) {
  std::vector<std::string> complaints;
  JsonReader in(json, where, "", complaints);
  OptimizeOptions options;
  options.agent = in.string("agent");
  options.set = in.string("set");
  options.seed = static_cast<uint64_t>(in.integer("seed", 0));
  options.stop_at_goal = in.boolean_or("stop_at_goal", false);
  const Json& budget = in.object("budget");
  const Json& final = in.object("final");
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  WHET_TRY(options.budget, budget_from_json(budget, where));
  WHET_TRY(options.final, evaluate_request_from_json(final, where));
  return options;
}

}  // namespace whet
