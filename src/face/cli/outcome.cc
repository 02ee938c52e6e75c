// SPDX-License-Identifier: Apache-2.0
#include "face/cli/outcome.h"

#include "report/evaluation_text.h"

namespace whet {

int exit_code_of(const Evaluation& evaluation) {
  if (evaluation.verdict.code == Code::cancelled) return kInterrupted;
  if (evaluation.verdict.code == Code::machine_failed) return kMachineFailed;
  // A reference that does not run, a workload that proves nothing: the task is at fault.
  if (evaluation.verdict.code == Code::reference_failed || evaluation.verdict.code == Code::workload_not_admitted) return kBadInput;
  return evaluation.scoreboard.goal_met ? kGoalMet : kShortOfGoal;
}

ReportStyle style_of(const Context& context, bool columns) {
  // A file or a pipe has no width: what is wide enough for the widest shipped table.
  return {.width = context.out_is_terminal ? context.columns : 120, .colour = context.colour, .columns = columns};
}

std::string show_evaluation(const Evaluation& evaluation, const Context& context, bool columns) {
  return evaluation_text(evaluation, style_of(context, columns));
}

}  // namespace whet
