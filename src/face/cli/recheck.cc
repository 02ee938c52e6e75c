// SPDX-License-Identifier: Apache-2.0
#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/interrupt.h"
#include "face/cli/json_output.h"
#include "face/cli/live.h"
#include "face/cli/outcome.h"
#include "face/cli/result_json.h"
#include "face/cli/session.h"
#include "report/comparison.h"

namespace whet {
namespace {

class Recheck : public Command {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(id_, "ID", "an Evaluation's id, or the beginning of one");
    arguments.flag(columns_, "--columns", "show the resident and cold times beside the flushed ones");
    arguments.text(json_, "--json FILE", "the fresh result as JSON, with `recheck` {of, holding, reasons}; - is standard output");
    places_.declare_ledger(arguments);
    places_.declare_worker(arguments);
  }

  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(json_));
    WHET_TRY(const std::string file, places_.ledger_file(context));
    WHET_TRY(Ledger ledger, Ledger::open_existing(file));
    LedgerStore store(ledger);
    WHET_TRY(const Judgement judgement, ledger.judgement(id_));
    WHET_TRY(const JudgedRecord old, judged_from(judgement));
    WHET_TRY(const WorkerOptions options, places_.worker_options(context));

    const Interrupt interrupt;
    WorkerSeat seat(worker_opener(options));
    Live live(context);
    WHET_TRY(const Attempted again, measure_again(old, seat, store, {.stop = &interrupt.stop()}, [&](const Json& news) { live(news); }));
    live.line().clear();
    if (again.cancelled) {
      complain("interrupted; nothing was written into the ledger");
      return kInterrupted;
    }
    const Evaluation& fresh = again.judged.evaluation;
    const Comparison comparison = compare_evaluations(old.evaluation, fresh);
    if (!output.to_stdout())
      print(show_evaluation(fresh, context, columns_) + "\n" + comparison_text(old.evaluation, fresh, style_of(context, columns_)));
    Json json = result_of(fresh, file);
    json["recheck"] = {{"of", old.evaluation.id}, {"holding", name_of(comparison.holding)}, {"reasons", comparison.reasons}};
    WHET_OK(output.write(json.dump(2)));
    if (exit_code_of(fresh) == kMachineFailed) return kMachineFailed;
    return comparison.holding == Holding::holds ? kGoalMet : kShortOfGoal;
  }

 private:
  std::string id_, json_;
  bool columns_ = false;
  Places places_;
};

}  // namespace

const CommandRow kRecheck{
    "Judge", "recheck", "measures an old Evaluation again and says whether it still holds",
    "Task, Solution, baselines and settings come from the ledger alone, byte for byte; the draws are fresh. It holds when every workload is as right as it was\n"
    "and the intervals of the geomean meet.\n\n"
    "Examples:\n"
    "  whet recheck e3f2\n"
    "  whet recheck e3f2 --ledger demo/ledger.db\n\n"
    "Exit codes: 0 it holds; 1 it does not, or there is not enough evidence; 2 bad input; 3 the machine failed; 130 interrupted.\n",
    [] { return std::unique_ptr<Command>(new Recheck); }};

}  // namespace whet
