// SPDX-License-Identifier: Apache-2.0
#include "face/cli/outcome.h"

#include "report/evaluation_text.h"

namespace whet {

int exit_code_of(const Evaluation& evaluation) {
  if (evaluation.verdict.code == Code::cancelled) return kInterrupted;
  const int code = static_cast<int>(evaluation.verdict.code);
  if (code >= 500 && code < 600 && evaluation.verdict.code != Code::not_run) return kMachineFailed;
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
