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

namespace whet {
namespace {

class Evaluate : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(task_, "TASK", "a task's folder, or the name of a shipped task");
    arguments.position(solution_, "SOLUTION", "a Solution's folder, or the name of one of the task's");
    judge_.declare(arguments);
    arguments.flag(columns_, "--columns", "show the resident and cold times beside the flushed ones");
    arguments.flag(again_, "--again", "measure again even if the ledger has exactly this judgement");
    arguments.text(json_, "--json FILE", "the result as JSON, whole or not at all; - is standard output");
    places_.declare_ledger(arguments);
    places_.declare_worker(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(json_));
    WHET_TRY(const OpenedTask task, open_task(task_, places_, context));
    WHET_TRY(const SolutionSource solution, find_solution(solution_, task.source));
    Attempt what;
    what.solution = {solution.name, solution.files};
    WHET_TRY(what.settings, judge_.request(task.folder.task));
    what.reuse = !again_;
    WHET_TRY(const WorkerOptions options, places_.worker_options(context));
    WHET_TRY(const std::string ledger, places_.ledger_file(context));
    WHET_TRY(const auto opened, open_ledger(ledger));
    Store& store = opened->store;

    const Interrupt interrupt;
    WorkerSeat seat(worker_opener(options));
    Live live(context);
    WHET_TRY(const Attempted attempted, attempt(task.folder, what, seat, store, {.stop = &interrupt.stop()}, [&](const Json& news) { live(news); }));
    live.line().clear();
    const Evaluation& evaluation = attempted.judged.evaluation;
    if (attempted.cancelled) {
      complain("interrupted; nothing was written into the ledger");
      return kInterrupted;
    }
    if (!output.to_stdout()) {
      if (attempted.reused) print(fmt::format("The ledger has exactly this judgement, of {} (--again measures again).\n\n", evaluation.started_at));
      print(show_evaluation(evaluation, context, columns_));
      print(fmt::format("\nRe-measure with: whet recheck {}{}\n", evaluation.id, places_.ledger.empty() ? "" : " --ledger " + ledger));
    }
    WHET_OK(output.write(result_of(evaluation, ledger).dump(2)));
    return exit_code_of(evaluation);
  }

 private:
  std::string task_, solution_, json_;
  JudgeOptions judge_;
  bool columns_ = false, again_ = false;
  Places places_;
};

}  // namespace

const CommandRow kEvaluate{
    "Judge", "evaluate", "judges one Solution: right? how fast against every baseline? how sure?",
    "The worker builds the Solution in a jail, admits the workloads by wrong answers that must fail, and times the Solution and every baseline in turn on\n"
    "fresh inputs, checking the timed outputs themselves. Everything goes into the ledger, raw samples included. Progress is on stderr.\n\n"
    "Examples:\n"
    "  whet evaluate rmsnorm-cpu start\n"
    "  whet evaluate attention-cpu ./mine --set quick\n"
    "  whet evaluate attention-cpu ./mine --workload prefill-causal-128 --columns\n"
    "  whet evaluate attention-cpu ./mine --json result.json\n"
    "  whet evaluate attention-cpu ./mine --worker ssh://me@bighost      judged over there\n\n"
    "Exit codes: 0 the task's goal is met; 1 judged and short of it (a wrong answer too); 2 bad input; 3 the machine failed; 130 interrupted.\n",
    [] { return std::unique_ptr<Command>(new Evaluate); }};

}  // namespace whet
