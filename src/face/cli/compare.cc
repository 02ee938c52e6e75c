// SPDX-License-Identifier: Apache-2.0
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/interrupt.h"
#include "face/cli/json_output.h"
#include "face/cli/judge_options.h"
#include "face/cli/live.h"
#include "face/cli/outcome.h"
#include "face/cli/result_json.h"
#include "face/cli/session.h"
#include "report/numbers.h"
#include "task/load.h"

namespace whet {
namespace {

class Compare : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(task_, "TASK", "a task's folder, or the name of a shipped task");
    arguments.position(a_, "A", "a Solution's folder, or the name of one of the task's");
    arguments.position(b_, "B", "what A is compared with, likewise");
    judge_.declare(arguments);
    arguments.flag(columns_, "--columns", "show the resident and cold times beside the flushed ones");
    arguments.text(json_, "--json FILE", "the result as JSON, whole or not at all; - is standard output");
    places_.declare_ledger(arguments);
    places_.declare_worker(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(json_));
    WHET_TRY(const OpenedTask task, open_task(task_, places_, context));
    WHET_TRY(const SolutionSource a, find_solution(a_, task.source));
    WHET_TRY(SolutionSource b, find_solution(b_, task.source));
    if (a.name == b.name) {
      // Two names in one Evaluation; the second travels as a folder of its own.
      if (b.files.empty()) b.files = solution_files(task.folder.files, b.name);
      b.name += "-b";
    }
    Attempt what;
    what.solution = {a.name, a.files};
    what.baselines = {{b.name, b.files}};
    what.purpose = Purpose::compare;
    what.reuse = false;
    WHET_TRY(what.settings, judge_.request(task.folder.task));
    WHET_TRY(const WorkerOptions options, places_.worker_options(context));
    WHET_TRY(const std::string ledger, places_.ledger_file(context));
    WHET_TRY(const auto opened, open_ledger(ledger));
    Store& store = opened->store;

    const Interrupt interrupt;
    WorkerSeat seat(worker_opener(options));
    Live live(context);
    WHET_TRY(const Attempted attempted, attempt(task.folder, what, seat, store, {.stop = &interrupt.stop()}, [&](const Json& news) { live(news); }));
    live.line().clear();
    if (attempted.cancelled) {
      complain("interrupted; nothing was written into the ledger");
      return kInterrupted;
    }
    const Evaluation& evaluation = attempted.judged.evaluation;
    if (!output.to_stdout()) print(show_evaluation(evaluation, context, columns_) + "\n" + sentence(evaluation, a.name, b.name));
    WHET_OK(output.write(result_of(evaluation, ledger).dump(2)));
    return exit_code(evaluation);
  }

 private:
  static std::string sentence(const Evaluation& evaluation, const std::string& a, const std::string& b) {
    const auto& ratio = evaluation.scoreboard.geomean_vs_fastest;
    if (!ratio) return fmt::format("No statement: {}\n", evaluation.verdict.sentence);
    const std::string figure = fmt::format("time of {} / time of {} = {} over {} workloads", b, a, interval_text(*ratio), evaluation.scoreboard.workloads_total);
    if (ratio->low > 1) return fmt::format("{} is faster than {}: {}.\n", a, b, figure);
    if (ratio->high < 1) return fmt::format("{} is slower than {}: {}.\n", a, b, figure);
    return fmt::format("Not enough evidence that they differ: {}.\n", figure);
  }
  static int exit_code(const Evaluation& evaluation) {
    if (const int code = exit_code_of(evaluation); code == kMachineFailed) return code;
    const auto& ratio = evaluation.scoreboard.geomean_vs_fastest;
    return ratio && ratio->low > 1 ? kGoalMet : kShortOfGoal;
  }

  std::string task_, a_, b_, json_;
  JudgeOptions judge_;
  bool columns_ = false;
  Places places_;
};

}  // namespace

const CommandRow kCompare{
    "Judge", "compare", "is Solution A faster than Solution B, and is that certain?",
    "A is judged with B as its only baseline: the same draws, the same clocks, in turn. The interval includes the noise floor of this machine, measured in the\n"
    "same session, so that a difference which two runs of one program would show is not called one.\n\n"
    "Examples:\n"
    "  whet compare attention-cpu ./mine start\n"
    "  whet compare attention-cpu openblas onednn --set quick\n"
    "  whet compare rmsnorm-cpu start start            the same against itself: no difference should be found\n\n"
    "Exit codes: 0 A is faster; 1 it is not, or it is not certain, or one of them is wrong; 2 bad input; 3 the machine failed; 130 interrupted.\n",
    [] { return std::unique_ptr<Command>(new Compare); }};

}  // namespace whet
