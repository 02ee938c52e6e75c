// SPDX-License-Identifier: Apache-2.0
// whet ledger list, show, export, check.
#include "ledger/ledger.h"

#include "base/json_impl.h"
#include "face/cli/command.h"
#include "face/cli/json_output.h"
#include "face/cli/outcome.h"
#include "face/cli/session.h"
#include "face/cli/suggest.h"
#include "ledger/export.h"
#include "report/numbers.h"
#include "report/table.h"
#include "task/load.h"

namespace whet {
namespace {

class LedgerCommand : public Command {
 protected:
  Expected<Ledger> open(const Context& context) const {
    WHET_TRY(const std::string file, places_.ledger_file(context));
    return Ledger::open_existing(file);
  }
  Places places_;
};

class LedgerList : public LedgerCommand {
 public:
  void declare(Arguments& arguments) override {
    arguments.text(filter_.task, "--task NAME", "only of this task");
    arguments.text(filter_.solution, "--solution NAME", "only of this Solution, by name or the beginning of its hash");
    arguments.text(filter_.run, "--run NAME", "only of this run");
    arguments.text(filter_.purpose, "--purpose WORD", "only evaluate, baseline, trial, challenge, confirm, final, compare or recheck");
    arguments.flag(runs_, "--runs", "the runs instead of the Evaluations");
    arguments.integer(filter_.limit, "--limit N", "the newest N (default 50; 0 = all)", 0);
    places_.declare_ledger(arguments);
  }
  Expected<int> run(Context& context, const Arguments&) override {
    if (!filter_.purpose.empty() && !purpose_from_name(filter_.purpose))
      return bad_input("--purpose: expected evaluate, baseline, trial, challenge, confirm, final, compare or recheck, found '{}'", filter_.purpose);
    WHET_TRY(Ledger ledger, open(context));
    const ReportStyle style{.width = context.out_is_terminal ? context.columns : 160, .colour = context.colour};
    if (runs_) {
      WHET_TRY(const std::vector<RunRow> runs, ledger.runs(filter_.limit));
      print(text_of(runs, style));
    } else {
      WHET_TRY(const std::vector<EvaluationRow> rows, ledger.list(filter_));
      print(text_of(rows, style));
    }
    return kGoalMet;
  }

 private:
  static std::string text_of(const std::vector<EvaluationRow>& rows, const ReportStyle& style) {
    if (rows.empty()) return "no Evaluation\n";
    Table table;
    for (const char* title : {"id", "when", "purpose", "task", "solution", "set"}) table.column(title, Table::Align::left);
    table.column("correct", Table::Align::right);
    table.column("geomean vs fastest", Table::Align::right);
    table.column("verdict", Table::Align::left);
    table.column("summary", Table::Align::left, true);
    for (const EvaluationRow& row : rows)
      table.row({row.id, minute_text(row.started_at), row.purpose, row.task, row.solution, row.set, fmt::format("{}/{}", row.correct, row.total),
                 interval_text(row.geomean), std::string(name_of(row.code)), row.summary});
    return table.text(style);
  }
  static std::string text_of(const std::vector<RunRow>& runs, const ReportStyle& style) {
    if (runs.empty()) return "no run\n";
    Table table;
    for (const char* title : {"run", "when", "task", "agent"}) table.column(title, Table::Align::left);
    table.column("judged", Table::Align::right);
    table.column("state", Table::Align::left, true);
    table.column("folder", Table::Align::left, true);
    for (const RunRow& run : runs)
      table.row({run.id, minute_text(run.started_at), run.task, run.agent, std::to_string(run.evaluations), run.state, run.folder});
    return table.text(style);
  }

  ListFilter filter_;
  bool runs_ = false;
};

class LedgerShow : public LedgerCommand {
 public:
  void declare(Arguments& arguments) override {
    arguments.position(id_, "ID", "an Evaluation's id, or the beginning of one");
    arguments.flag(columns_, "--columns", "show the resident and cold times beside the flushed ones");
    arguments.text(json_, "--json FILE", "the whole Evaluation as JSON, raw samples included; - is standard output");
    places_.declare_ledger(arguments);
  }
  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(const JsonOutput output, JsonOutput::open(json_));
    WHET_TRY(Ledger ledger, open(context));
    WHET_TRY(const Judgement judgement, ledger.judgement(id_));
    if (!output.to_stdout()) {
      print(show_evaluation(judgement.evaluation, context, columns_));
      print(facts(judgement));
    }
    WHET_OK(output.write(to_json(judgement.evaluation).dump(2)));
    return kGoalMet;
  }

 private:
  static std::string facts(const Judgement& judgement) {
    const Evaluation& evaluation = judgement.evaluation;
    std::string text = fmt::format("\nJudged as {}", judgement.purpose);
    if (!judgement.run.empty()) text += fmt::format(" in run {}, number {}", judgement.run, judgement.sequence);
    if (!judgement.request.confirm_of.empty()) text += fmt::format(", a repetition of {}", judgement.request.confirm_of);
    if (!judgement.summary.empty()) text += ": " + judgement.summary;
    text += fmt::format("\ntask {}\nsolution {}\nsecret of the draws {}\nworker {}\n", evaluation.task_hash, evaluation.solution_hash, evaluation.secret, evaluation.worker);
    for (const SolutionFacts& solution : evaluation.solutions)
      text += fmt::format("{} {}: source {}, artifact {}\n", solution.role, solution.name, solution.hash, solution.artifact.empty() ? "none" : solution.artifact);
    return text;
  }

  std::string id_, json_;
  bool columns_ = false;
};

class LedgerExport : public LedgerCommand {
 public:
  void declare(Arguments& arguments) override {
    arguments.optional_position(id_, "ID", "one Evaluation (default all)");
    arguments.text(format_, "--format NAME", "json (default), csv (a row a sample), or trace (FlashInfer Trace, JSONL)");
    arguments.text(file_, "--out FILE", "where to, whole or not at all (default - : standard output)");
    places_.declare_ledger(arguments);
  }
  Expected<int> run(Context& context, const Arguments&) override {
    const std::vector<std::string> formats = {"json", "csv", "trace"};
    if (format_ != "json" && format_ != "csv" && format_ != "trace")
      return bad_input("--format: expected {}, found '{}'{}", listed(formats), format_, did_you_mean(format_, formats));
    WHET_TRY(const JsonOutput output, JsonOutput::open(file_, "--out"));
    WHET_TRY(Ledger ledger, open(context));
    std::vector<std::string> ids = {id_};
    if (id_.empty()) {
      ids.clear();
      WHET_TRY(const std::vector<EvaluationRow> rows, ledger.list({.limit = 0}));
      for (const EvaluationRow& row : rows) ids.push_back(row.id);
    }
    std::string text = format_ == "csv" ? csv_header() : "";
    Json all = Json::array();
    for (const std::string& id : ids) {
      WHET_TRY(const Judgement judgement, ledger.judgement(id));
      if (format_ == "csv") text += csv_rows(judgement.evaluation);
      if (format_ == "json") all.push_back(to_json(judgement.evaluation));
      if (format_ == "trace") {
        WHET_TRY(const auto workloads, workloads_of(ledger, judgement));
        text += trace_lines(judgement.evaluation, workloads);
      }
    }
    if (format_ == "json") text = all.dump(1) + "\n";
    WHET_OK(output.write_as_is(text));
    return kGoalMet;
  }

 private:
  // By name, as FlashInfer Trace has them; from the task as it was when it was judged.
  static Expected<std::map<std::string, Json>> workloads_of(Ledger& ledger, const Judgement& judgement) {
    std::map<std::string, Json> workloads;
    WHET_TRY(const TaskFiles files, ledger.files(judgement.request.task));
    WHET_TRY_IN("the task of " + judgement.evaluation.id, const Task task, load_task(files, ""));
    for (const Workload& workload : task.workloads) {
      const Json line = to_json(workload);
      workloads[workload.name] = line.contains("workload") ? line["workload"] : line;
    }
    return workloads;
  }

  std::string id_, format_ = "json", file_ = "-";
};

class LedgerCheck : public LedgerCommand {
 public:
  void declare(Arguments& arguments) override { places_.declare_ledger(arguments); }
  Expected<int> run(Context& context, const Arguments&) override {
    WHET_TRY(Ledger ledger, open(context));
    WHET_TRY(const std::vector<std::string> problems, ledger.check());
    for (const std::string& problem : problems) print(problem + "\n");
    if (!problems.empty()) {
      complain(fmt::format("{}: {} problem(s)", ledger.path(), problems.size()));
      return kBadInput;
    }
    WHET_TRY(const std::vector<EvaluationRow> rows, ledger.list({.limit = 0}));
    WHET_TRY(const std::vector<RunRow> runs, ledger.runs(0));
    print(fmt::format("{}: {} Evaluations, {} runs, sound\n", ledger.path(), rows.size(), runs.size()));
    return kGoalMet;
  }
};

}  // namespace

const CommandRow kLedgerList{"Ledger", "ledger list", "what was judged, newest first",
                             "Examples:\n"
                             "  whet ledger list --task attention-cpu --limit 10\n"
                             "  whet ledger list --ledger demo/ledger.db --run run\n"
                             "  whet ledger list --runs\n",
                             [] { return std::unique_ptr<Command>(new LedgerList); }};

const CommandRow kLedgerShow{"Ledger", "ledger show", "one Evaluation, whole: table, Verdicts with evidence, hashes, machine",
                             "Example:\n"
                             "  whet ledger show e3f2 --columns\n",
                             [] { return std::unique_ptr<Command>(new LedgerShow); }};

const CommandRow kLedgerExport{"Ledger", "ledger export", "Evaluations as JSON, CSV or FlashInfer Trace",
                               "Examples:\n"
                               "  whet ledger export e3f2 --format csv --out samples.csv\n"
                               "  whet ledger export --format trace > traces.jsonl\n",
                               [] { return std::unique_ptr<Command>(new LedgerExport); }};

const CommandRow kLedgerCheck{"Ledger", "ledger check", "whether the file is sound: database, blobs against their hashes, Evaluations",
                              "Exit codes: 0 sound; 2 it is not, with a line a problem.\n",
                              [] { return std::unique_ptr<Command>(new LedgerCheck); }};

}  // namespace whet
