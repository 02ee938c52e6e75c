// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/numbers.h"

namespace whet {
namespace {

const WorkloadResult* result_of(const Evaluation& evaluation, const std::string& workload) {
  for (const WorkloadResult& result : evaluation.workloads)
    if (result.workload == workload) return &result;
  return nullptr;
}

const ScoredWorkload* scored_in(const Evaluation& evaluation, const std::string& workload) {
  for (const ScoredWorkload& row : evaluation.scoreboard.workloads)
    if (row.workload == workload) return &row;
  return nullptr;
}

// Codes that say nothing about the Solution.
bool says_nothing(Code code) { return static_cast<int>(code) >= 500; }

bool meet(const Ratio& a, const Ratio& b, double widening) {
  const double slack = std::exp(widening);
  return std::max(a.low, b.low) / slack <= std::min(a.high, b.high) * slack;
}

double both_floors(const Evaluation& old, const Evaluation& fresh) { return std::hypot(old.noise_floor, fresh.noise_floor); }

bool apart(const Evaluation& old, const Evaluation& fresh, const ScoredWorkload& row) {
  const ScoredWorkload* now = scored_in(fresh, row.workload);
  return now && !meet(row.versus_fastest, now->versus_fastest, both_floors(old, fresh));
}

struct Findings {
  std::vector<std::string> contradictions, gaps;
};

void compare_identity(const Evaluation& old, const Evaluation& fresh, Findings& findings) {
  if (old.task_hash != fresh.task_hash) findings.gaps.push_back("the task is of another version");
  if (old.solution_hash != fresh.solution_hash) findings.gaps.push_back("the Solution is another");
  if (says_nothing(fresh.verdict.code) && fresh.workloads.empty())
    findings.gaps.push_back(fmt::format("{}: {}", name_of(fresh.verdict.code), fresh.verdict.sentence));
}

void compare_verdicts(const Evaluation& old, const Evaluation& fresh, Findings& findings) {
  for (const WorkloadResult& before : old.workloads) {
    const Verdict& was = before.candidate().verdict;
    if (says_nothing(was.code)) continue;
    const WorkloadResult* now = result_of(fresh, before.workload);
    if (!now || says_nothing(now->candidate().verdict.code)) {
      findings.gaps.push_back(fmt::format("{}: {}", before.workload, now ? name_of(now->candidate().verdict.code) : "not measured again"));
      continue;
    }
    const Verdict& is = now->candidate().verdict;
    if (was.right() != is.right())
      findings.contradictions.push_back(fmt::format("{}: was {}, is {}{}{}", before.workload, name_of(was.code), name_of(is.code), is.sentence.empty() ? "" : ": ",
                                                    is.sentence));
  }
}

void compare_workloads(const Evaluation& old, const Evaluation& fresh, Findings& findings) {
  std::vector<std::string> differing;
  std::size_t compared = 0;
  for (const ScoredWorkload& row : old.scoreboard.workloads) {
    const ScoredWorkload* now = scored_in(fresh, row.workload);
    compared += now != nullptr;
    if (apart(old, fresh, row))
      differing.push_back(fmt::format("{}: was {}, is {}", row.workload, interval_text(row.versus_fastest), interval_text(now->versus_fastest)));
  }
  if (compared == 0 && !old.scoreboard.workloads.empty()) findings.gaps.push_back("no workload was timed in both");
  if (differing.size() > std::max<std::size_t>(1, compared / 20))
    findings.contradictions.insert(findings.contradictions.end(), differing.begin(), differing.end());
}

void compare_geomeans(const Evaluation& old, const Evaluation& fresh, Findings& findings) {
  const auto &was = old.scoreboard.geomean_vs_fastest, &is = fresh.scoreboard.geomean_vs_fastest;
  if (!was || !is) return compare_workloads(old, fresh, findings);
  if (!meet(*was, *is, both_floors(old, fresh)))
    findings.contradictions.push_back(fmt::format("geomean against the fastest: was {}, is {}", interval_text(*was), interval_text(*is)));
}

std::string median_text(const Evaluation& evaluation, const std::string& workload) {
  const WorkloadResult* result = result_of(evaluation, workload);
  return result ? time_text(result->candidate().median_ns(Column::flushed)) : "-";
}

std::string ratio_cell(const Evaluation& evaluation, const std::string& workload) {
  const WorkloadResult* result = result_of(evaluation, workload);
  if (!result) return "-";
  if (!result->candidate().verdict.correct()) return std::string(name_of(result->candidate().verdict.code));
  const ScoredWorkload* row = scored_in(evaluation, workload);
  return row ? interval_text(row->versus_fastest) : "-";
}

}  // namespace

std::string_view name_of(Holding holding) {
  switch (holding) {
    case Holding::holds: return "holds";
    case Holding::does_not_hold: return "does not hold";
    case Holding::not_enough_evidence: break;
  }
  return "not enough evidence";
}

Comparison compare_evaluations(const Evaluation& old, const Evaluation& fresh) {
  Findings findings;
  compare_identity(old, fresh, findings);
  compare_verdicts(old, fresh, findings);
  compare_geomeans(old, fresh, findings);
  const bool other_thing = old.task_hash != fresh.task_hash || old.solution_hash != fresh.solution_hash;
  // What was measured and contradicts does so whatever was left out; another task or Solution can contradict nothing.
  if (!findings.contradictions.empty() && !other_thing) return {Holding::does_not_hold, findings.contradictions};
  if (!findings.gaps.empty()) return {Holding::not_enough_evidence, findings.gaps};
  return {Holding::holds, {}};
}

std::string comparison_text(const Evaluation& old, const Evaluation& fresh, const ReportStyle& style) {
  const Comparison comparison = compare_evaluations(old, fresh);
  const Tint tint = comparison.holding == Holding::holds ? Tint::good : comparison.holding == Holding::does_not_hold ? Tint::bad : Tint::none;
  std::string text = fmt::format("{} of {}, judged again in {}: {}\n", old.id, minute_text(old.started_at), fresh.id, tinted(name_of(comparison.holding), tint, style));
  for (const std::string& reason : comparison.reasons) text += wrapped("  " + reason, static_cast<std::size_t>(std::max(style.width, 40)), 4);

  Table summary(2);
  for (const char* title : {"", "was", "is"}) summary.column(title, title[0] ? Table::Align::right : Table::Align::left);
  summary.row({"correct", fmt::format("{} of {}", old.scoreboard.workloads_correct, old.scoreboard.workloads_total),
               fmt::format("{} of {}", fresh.scoreboard.workloads_correct, fresh.scoreboard.workloads_total)});
  summary.row({"geomean against the fastest", interval_text(old.scoreboard.geomean_vs_fastest), interval_text(fresh.scoreboard.geomean_vs_fastest)});
  text += "\n" + summary.text(style);

  Table changed(2);
  changed.column("workload", Table::Align::left, true);
  for (const char* title : {"was", "is", "was", "is"}) changed.column(title, Table::Align::right);
  for (const WorkloadResult& before : old.workloads) {
    const WorkloadResult* now = result_of(fresh, before.workload);
    const ScoredWorkload* row = scored_in(old, before.workload);
    const bool verdict_changed = !now || now->candidate().verdict.code != before.candidate().verdict.code;
    if (!verdict_changed && !(row && apart(old, fresh, *row))) continue;
    changed.row({before.workload, median_text(old, before.workload), median_text(fresh, before.workload), ratio_cell(old, before.workload),
                 ratio_cell(fresh, before.workload)});
  }
  text += changed.empty() ? "  no workload stands apart from what it was\n" : "\n" + changed.text(style);
  return text;
}

}  // namespace whet
