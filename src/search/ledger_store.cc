// SPDX-License-Identifier: Apache-2.0
#include "search/ledger_store.h"

#include "base/json_impl.h"
#include "search/clock.h"

namespace whet {
namespace {

std::string usage_text(const Usage& usage) { return Json{{"tokens", usage.tokens}, {"dollars", usage.dollars}}.dump(); }

Expected<Usage> usage_from(const std::string& text, const std::string& where) {
  WHET_TRY(const Json json, parse_json(text, where));
  std::vector<std::string> complaints;
  JsonReader in(json, where, "usage", complaints);
  const Usage usage{.tokens = in.integer_or("tokens", 0, 0), .dollars = in.number_or("dollars", 0)};
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  return usage;
}

Judgement judgement_of(const JudgedRecord& judged) {
  return {.run = judged.run,
          .sequence = judged.sequence,
          .purpose = std::string(name_of(judged.purpose)),
          .request = judged.request,
          .request_hash = judged.request_hash,
          .evaluation = judged.evaluation,
          .summary = judged.summary,
          .families = judged.families,
          .usage = usage_text(judged.usage),
          .wall_seconds = judged.wall_seconds};
}

}  // namespace

Expected<JudgedRecord> judged_from(const Judgement& judgement) {
  const std::string where = "ledger: evaluation " + judgement.evaluation.id;
  const auto purpose = purpose_from_name(judgement.purpose);
  if (!purpose) return bad_input("{}: unknown purpose '{}'; it was written by another version of whet", where, judgement.purpose);
  WHET_TRY(const Usage usage, usage_from(judgement.usage, where));
  return JudgedRecord{.run = judgement.run,
                      .sequence = judgement.sequence,
                      .purpose = *purpose,
                      .request = judgement.request,
                      .request_hash = judgement.request_hash,
                      .evaluation = judgement.evaluation,
                      .summary = judgement.summary,
                      .families = judgement.families,
                      .usage = usage,
                      .wall_seconds = judgement.wall_seconds};
}

Expected<std::optional<Evaluation>> LedgerStore::find(const std::string& run, const std::string& solution_hash, const std::string& request_hash) {
  return ledger_.find(run, solution_hash, request_hash);
}

Status LedgerStore::record(const JudgedRecord& judged, const std::map<std::string, std::string>& blobs) {
  WHET_OK(ledger_.add(judgement_of(judged), blobs));
  return {};
}

Expected<std::string> LedgerStore::blob(const std::string& sha256) { return ledger_.blob(sha256); }

Status LedgerStore::begin_run(const RunRecord& run) {
  return ledger_.begin_run({.id = run.id,
                            .task = run.task,
                            .task_hash = run.task_hash,
                            .director = "bare",
                            .agent = run.agent,
                            .options = run.options,
                            .folder = run.folder,
                            .state = run.status,
                            .started_at = run.started_at});
}

Status LedgerStore::end_run(const std::string& id, const std::string& status) { return ledger_.end_run(id, status, now_utc()); }

Expected<RunRecord> LedgerStore::run(const std::string& id) {
  WHET_TRY(const RunRow row, ledger_.run(id));
  if (row.id != id) return bad_input("{}: no run \"{}\"; `whet ledger` lists them", ledger_.path(), id);  // it takes the beginning of an id too
  return RunRecord{.id = row.id, .task = row.task, .task_hash = row.task_hash, .agent = row.agent, .started_at = row.started_at,
                   .folder = row.folder, .options = row.options, .status = row.state};
}

Expected<std::vector<JudgedRecord>> LedgerStore::judged(const std::string& run) {
  WHET_TRY(const std::vector<Judgement> judgements, ledger_.judgements_of(run));
  std::vector<JudgedRecord> result;
  for (const Judgement& judgement : judgements) {
    WHET_TRY(JudgedRecord one, judged_from(judgement));
    result.push_back(std::move(one));
  }
  return result;
}

}  // namespace whet
