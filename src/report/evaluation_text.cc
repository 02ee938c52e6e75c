// SPDX-License-Identifier: Apache-2.0
#include "report/evaluation_text.h"

#include <algorithm>
#include <cmath>

#include "base/json_impl.h"
#include "report/numbers.h"
#include "report/why.h"
#include "score/ratio.h"

namespace whet {
namespace {

std::size_t width_of(const ReportStyle& style) { return static_cast<std::size_t>(std::max(style.width, 40)); }

std::vector<std::string> baselines_of(const Evaluation& evaluation) {
  std::vector<std::string> names;
  for (const WorkloadResult& result : evaluation.workloads)
    for (const Trial& trial : result.trials)
      if (trial.role != "candidate" && std::find(names.begin(), names.end(), trial.solution) == names.end()) names.push_back(trial.solution);
  return names;
}

const ScoredWorkload* scored(const Scoreboard& board, const std::string& workload) {
  for (const ScoredWorkload& row : board.workloads)
    if (row.workload == workload) return &row;
  return nullptr;
}

const Trial* baseline_trial(const WorkloadResult& result, const std::string& name) {
  for (const Trial& trial : result.trials)
    if (trial.role != "candidate" && trial.solution == name) return &trial;
  return nullptr;
}

// The unit of a row: that of its smallest time.
TimeUnit row_unit(const WorkloadResult& result, Column column) {
  double smallest = std::numeric_limits<double>::quiet_NaN();
  for (const Trial& trial : result.trials) smallest = std::fmin(smallest, trial.median_ns(column));
  return unit_for(smallest);
}

Tint tint_of(const Ratio& ratio) { return ratio.low > 1 ? Tint::good : ratio.high < 1 ? Tint::bad : Tint::none; }

std::string baseline_cell(const WorkloadResult& result, const std::string& baseline, const std::string& fastest, const TimeUnit& unit) {
  const Trial* trial = baseline_trial(result, baseline);
  if (!trial) return "- ";
  if (!trial->verdict.correct()) return std::string(name_of(trial->verdict.code)) + " ";
  return time_text(trial->median_ns(Column::flushed), unit) + (baseline == fastest ? "*" : " ");
}

// Workloads that share one Verdict of one Solution.
struct SharedVerdict {
  std::string solution;
  const Verdict* verdict;
  std::vector<std::string> workloads;
};

std::vector<SharedVerdict> shared_verdicts(const Evaluation& evaluation) {
  std::vector<SharedVerdict> shared;
  for (const WorkloadResult& result : evaluation.workloads)
    for (const Trial& trial : result.trials) {
      if (trial.verdict.correct()) continue;
      const std::string name = trial.role == "candidate" ? "" : trial.solution;
      auto same = std::find_if(shared.begin(), shared.end(), [&](const SharedVerdict& other) {
        return other.solution == name && other.verdict->code == trial.verdict.code && other.verdict->sentence == trial.verdict.sentence;
      });
      if (same == shared.end()) same = shared.insert(shared.end(), {name, &trial.verdict, {}});
      same->workloads.push_back(result.workload);
    }
  return shared;
}

std::string some_of(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 4;
  std::vector<std::string> shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kShown)));
  return fmt::format("{}{}", fmt::join(shown, ", "), names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

// The end of a log: that is where compilers count the errors, but the first lines name them. Both, indented.
std::string log_text(const std::string& log, std::size_t lines) {
  std::vector<std::string> all;
  for (std::size_t at = 0; at < log.size();) {
    std::size_t end = std::min(log.find('\n', at), log.size());
    all.push_back(log.substr(at, end - at));
    at = end + 1;
  }
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == lines && all.size() > lines) {
      text += fmt::format("    ... {} more lines; `whet ledger show` has all of them\n", all.size() - lines);
      break;
    }
    text += "    " + all[i] + "\n";
  }
  return text;
}

std::string heading(const Evaluation& evaluation, const ReportStyle& style) {
  const bool good = evaluation.verdict.correct();
  std::string text = tinted(fmt::format("{} on {}", evaluation.solution, evaluation.task), Tint::strong, style);
  text += fmt::format(" ({}): {}", evaluation.set, tinted(name_of(evaluation.verdict.code), good ? Tint::good : Tint::bad, style));
  text += fmt::format("   {}  {}\n", evaluation.id, minute_text(evaluation.started_at));
  return text;
}

std::string goal_text(const Scoreboard& board) {
  return fmt::format("{} >= {}: {}", board.goal_metric, board.goal_value, board.goal_met ? "met" : "not met");
}

std::string families_text(const Scoreboard& board, const ReportStyle& style) {
  if (board.by_family.size() < 2) return "";
  Table table(2);
  table.column("family", Table::Align::left, true);
  table.column("correct", Table::Align::right);
  table.column("geomean", Table::Align::right);
  table.column("of all others", Table::Align::right);
  for (const auto& [family, score] : board.by_family)
    table.row({family, fmt::format("{}/{}", score.correct, score.workloads), interval_text(score.geomean), interval_text(score.geomean_without)},
              {Tint::none, score.correct < score.workloads ? Tint::bad : Tint::none, score.geomean ? tint_of(*score.geomean) : Tint::none, Tint::none});
  return table.text(style);
}

std::string remarks_text(const Evaluation& evaluation, const ReportStyle& style) {
  std::string text;
  for (const SolutionFacts& facts : evaluation.solutions)
    if (!facts.notes.empty()) text += wrapped(fmt::format("  {}: {}", facts.name, facts.notes), width_of(style), 4);
  for (const std::string& remark : evaluation.remarks) text += wrapped("  " + remark, width_of(style), 4);
  return text.empty() ? "" : tinted("Remarks", Tint::strong, style) + "\n" + text;
}

// "C7510: Potential ...": C7510. Advice without a number goes by its first words.
std::string advice_name(const std::string& advice) {
  const std::size_t colon = advice.find(": ");
  return advice.starts_with('C') && colon != std::string::npos && colon < 8 ? advice.substr(0, colon) : shortened(advice, 24);
}

// "C7510, C7519 x6"
std::string advice_cell(const std::vector<std::string>& advisories) {
  std::vector<std::pair<std::string, int>> counted;
  for (const std::string& advice : advisories) {
    const std::string name = advice_name(advice);
    const auto known = std::find_if(counted.begin(), counted.end(), [&](const auto& entry) { return entry.first == name; });
    if (known == counted.end()) counted.emplace_back(name, 1);
    else ++known->second;
  }
  std::string cell;
  for (const auto& [name, count] : counted) cell += (cell.empty() ? "" : ", ") + name + (count > 1 ? fmt::format(" x{}", count) : "");
  return cell;
}

// One text of each name: six lines of C7519 say no more than one.
void add_advice(const std::vector<std::string>& advisories, std::vector<std::string>& texts) {
  for (const std::string& advice : advisories)
    if (std::none_of(texts.begin(), texts.end(), [&](const std::string& text) { return advice_name(text) == advice_name(advice); })) texts.push_back(advice);
}

std::string string_at(const Json& json, std::initializer_list<const char*> path) {
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return "";
    at = &(*at)[key];
  }
  if (at->is_string()) return at->get<std::string>();
  return at->is_number() ? at->dump() : "";
}

}  // namespace

std::string workloads_text(const Evaluation& evaluation, const ReportStyle& style) {
  const std::vector<std::string> baselines = baselines_of(evaluation);
  Table table;
  table.column("workload", Table::Align::left, true);
  table.column("family", Table::Align::left, true);
  table.column("verdict", Table::Align::left, true);
  table.column("candidate", Table::Align::right);
  for (const std::string& baseline : baselines) table.column(shortened(baseline, 14) + " ", Table::Align::right, true);
  table.column("vs fastest", Table::Align::right);
  for (const WorkloadResult& result : evaluation.workloads) {
    const Trial& candidate = result.candidate();
    const TimeUnit unit = row_unit(result, Column::flushed);
    const ScoredWorkload* row = scored(evaluation.scoreboard, result.workload);
    const std::string fastest = row ? row->fastest : fastest_baseline(result, Column::flushed);
    std::vector<std::string> cells = {result.workload, result.family, std::string(name_of(candidate.verdict.code)),
                                      time_text(candidate.median_ns(Column::flushed), unit)};
    std::vector<Tint> tints = {Tint::none, Tint::faint, candidate.verdict.correct() ? Tint::none : Tint::bad, Tint::none};
    for (const std::string& baseline : baselines) {
      cells.push_back(baseline_cell(result, baseline, fastest, unit));
      tints.push_back(Tint::none);
    }
    cells.push_back(row ? interval_text(row->versus_fastest) : "-");
    tints.push_back(row ? tint_of(row->versus_fastest) : Tint::none);
    table.row(std::move(cells), std::move(tints));
  }
  return table.empty() ? "" : table.text(style);
}

std::string columns_text(const Evaluation& evaluation, const ReportStyle& style) {
  Table table;
  table.column("workload", Table::Align::left, true);
  for (const char* title : {"resident", "fastest", "ratio", "cold", "fastest", "ratio"}) table.column(title, Table::Align::right);
  bool any = false;
  for (const WorkloadResult& result : evaluation.workloads) {
    std::vector<std::string> cells = {result.workload};
    for (Column column : {Column::resident, Column::cold}) {
      const TimeUnit unit = row_unit(result, column);
      const double ours = result.candidate().median_ns(column);
      const Trial* fastest = baseline_trial(result, fastest_baseline(result, column));
      const double theirs = fastest ? fastest->median_ns(column) : std::numeric_limits<double>::quiet_NaN();
      any = any || std::isfinite(ours);
      cells.insert(cells.end(), {time_text(ours, unit), time_text(theirs, unit), factor_text(theirs / ours)});
    }
    table.row(std::move(cells));
  }
  return any ? table.text(style) : "";
}

std::string verdicts_text(const Evaluation& evaluation, const ReportStyle& style) {
  std::string text;
  for (const SharedVerdict& shared : shared_verdicts(evaluation)) {
    const Verdict& verdict = *shared.verdict;
    std::string line = fmt::format("  {} {}{}: {}", static_cast<int>(verdict.code), name_of(verdict.code),
                                   shared.solution.empty() ? "" : " (baseline " + shared.solution + ")", some_of(shared.workloads));
    text += wrapped(line, width_of(style), 6);
    if (!verdict.sentence.empty()) text += wrapped("      " + verdict.sentence, width_of(style), 6);
    if (static_cast<int>(verdict.code) < 200) text += log_text(verdict.evidence, 20);
  }
  if (text.empty() && !evaluation.verdict.correct()) {
    text = wrapped(fmt::format("  {} {}: {}", static_cast<int>(evaluation.verdict.code), name_of(evaluation.verdict.code), evaluation.verdict.sentence),
                   width_of(style), 6);
    if (static_cast<int>(evaluation.verdict.code) < 200) text += log_text(evaluation.verdict.evidence, 20);
  }
  return text.empty() ? "" : tinted("Verdicts", Tint::strong, style) + "\n" + text;
}

std::string scoreboard_text(const Scoreboard& board, const ReportStyle& style) {
  Table table(2);
  table.column("", Table::Align::left, true);
  table.column("", Table::Align::left);
  const bool all = board.workloads_correct == board.workloads_total;
  table.row({"correct", fmt::format("{} of {}", board.workloads_correct, board.workloads_total)}, {Tint::none, all ? Tint::good : Tint::bad});
  table.row({"at par or faster", fmt::format("{} of {}", board.at_par, board.workloads_total)});
  if (board.geomean_vs_fastest)
    table.row({"geomean against the fastest", interval_text(board.geomean_vs_fastest)}, {Tint::none, tint_of(*board.geomean_vs_fastest)});
  else
    table.row({"geomean against the fastest", "none: not every workload is correct and timed"}, {Tint::none, Tint::bad});
  for (const auto& [baseline, counted] : board.geomean_vs)
    table.row({"geomean against " + baseline, fmt::format("{}  n {}", interval_text(counted.first), counted.second)});
  if (!board.geomean_vs_fastest && board.geomean_correct_only)
    table.row({"geomean of the correct ones",
               fmt::format("{}  n {}", interval_text(board.geomean_correct_only->first), board.geomean_correct_only->second)});
  if (!board.goal_metric.empty()) table.row({"goal", goal_text(board)}, {Tint::none, board.goal_met ? Tint::good : Tint::bad});
  std::string text = tinted("Scoreboard", Tint::strong, style) + "\n" + table.text(style);
  if (std::string families = families_text(board, style); !families.empty()) text += "\n" + families;
  return text;
}

// Silent about those that failed: they are among the Verdicts.
std::string hidden_text(const Evaluation& evaluation) {
  const auto right = std::count_if(evaluation.hidden.begin(), evaluation.hidden.end(), [](const HiddenResult& result) { return result.verdict.correct(); });
  if (right == 0) return "";
  return fmt::format("Hidden   right on {} of {} workload{} drawn for this judgement within the task's ranges\n", right, evaluation.hidden.size(), evaluation.hidden.size() == 1 ? "" : "s");
}

std::string worst_text(const Evaluation& evaluation, const ReportStyle& style) {
  std::string text;
  const auto& rows = evaluation.scoreboard.workloads;
  for (std::size_t i = 0; i < rows.size() && i < 3; ++i) {
    text += fmt::format("  {}  {}\n", rows[i].workload, tinted(interval_text(rows[i].versus_fastest), tint_of(rows[i].versus_fastest), style));
    for (const WorkloadResult& result : evaluation.workloads)
      if (result.workload == rows[i].workload)
        for (const std::string& reason : why_it_stands_there(result, rows[i])) text += wrapped("    - " + reason, width_of(style), 6);
  }
  return text.empty() ? "" : tinted(rows.size() > 3 ? "The worst three" : "The worst", Tint::strong, style) + "\n" + text;
}

std::string kernels_text(const Evaluation& evaluation, const ReportStyle& style) {
  const auto candidate = std::find_if(evaluation.solutions.begin(), evaluation.solutions.end(), [](const SolutionFacts& facts) { return facts.role == "candidate"; });
  if (candidate == evaluation.solutions.end() || candidate->device.empty()) return "";
  Table table(2);
  table.column("kernel", Table::Align::left, true);
  table.column("for", Table::Align::left);
  for (const char* title : {"registers", "spilled B", "stack B", "shared B"}) table.column(title, Table::Align::right);
  table.column("advice", Table::Align::left, true);
  std::vector<std::string> texts;
  for (const KernelFacts& kernel : candidate->device.kernels) {
    const bool spills = kernel.spill_store_bytes + kernel.spill_load_bytes > 0;
    table.row({kernel.name, kernel.arch, std::to_string(kernel.registers), spills ? fmt::format("{}/{}", kernel.spill_store_bytes, kernel.spill_load_bytes) : "0",
               std::to_string(kernel.stack_bytes), std::to_string(kernel.shared_bytes), advice_cell(kernel.advisories)},
              {Tint::none, Tint::faint, Tint::none, spills ? Tint::bad : Tint::none, Tint::none, Tint::none, Tint::bad});
    add_advice(kernel.advisories, texts);
  }
  add_advice(candidate->device.advisories, texts);
  std::string text = tinted("Kernels", Tint::strong, style) + "\n" + (table.empty() ? "" : table.text(style));
  for (const std::string& advice : texts) text += wrapped("  - " + advice, width_of(style), 4);
  return text;
}

std::string seconds_text(const TimeSpent& seconds, const ReportStyle& style) {
  const auto share = [&](double part) { return seconds.total > 0 ? fmt::format("{:.0f} %", 100 * part / seconds.total) : "-"; };
  const auto number = [](double value) { return fmt::format("{:.1f}", value); };
  Table table;
  table.column("", Table::Align::left);
  for (const char* title : {"total", "Solutions", "judge", "reference", "build", "admission"}) table.column(title, Table::Align::right);
  table.row({"Seconds", number(seconds.total), number(seconds.solutions), number(seconds.judge), number(seconds.reference), number(seconds.build),
             number(seconds.admission)});
  table.row({"Share", "", share(seconds.solutions), share(seconds.judge), share(seconds.reference), share(seconds.build), share(seconds.admission)});
  return table.text(style);
}

std::string environment_text(const std::string& environment, const ReportStyle& style) {
  auto json = parse_json(environment, "environment");
  if (!json || !json->is_object()) return "";
  std::vector<std::string> parts;
  const auto add = [&](std::string part) {
    if (!part.empty() && std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
  };
  add(string_at(*json, {"gpu", "name"}));
  add(string_at(*json, {"cpu"}));
  add(string_at(*json, {"cpu", "model"}));
  add(string_at(*json, {"cpu", "name"}));
  if (std::string cores = string_at(*json, {"cpu", "cores"}); !cores.empty()) add(cores + " cores");
  if (std::string governor = string_at(*json, {"cpu", "governor"}); !governor.empty()) add("governor " + governor);
  add(string_at(*json, {"compiler"}));
  add(string_at(*json, {"compiler", "version"}));
  if (parts.empty()) return "";
  return shortened(fmt::format("Machine  {}", fmt::join(parts, ", ")), width_of(style)) + "\n";
}

std::string evaluation_text(const Evaluation& evaluation, const ReportStyle& style) {
  std::string text = heading(evaluation, style);
  const auto block = [&](const std::string& part) {
    if (!part.empty()) text += "\n" + part;
  };
  block(workloads_text(evaluation, style));
  if (style.columns) block(columns_text(evaluation, style));
  block(verdicts_text(evaluation, style));
  block(scoreboard_text(evaluation.scoreboard, style));
  block(worst_text(evaluation, style));
  block(kernels_text(evaluation, style));
  std::string foot = seconds_text(evaluation.seconds, style) + "\n";
  if (evaluation.noise_floor > 0)
    foot += fmt::format("Noise    {:.2f} %: two processes of one program differ by that much here\n", 100 * std::expm1(evaluation.noise_floor));
  foot += hidden_text(evaluation);
  block(foot + environment_text(evaluation.environment, style));
  block(remarks_text(evaluation, style));
  return text;
}

}  // namespace whet
