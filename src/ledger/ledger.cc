// SPDX-License-Identifier: Apache-2.0
#include "ledger/ledger.h"

#include <unistd.h>

#include "base/hash.h"
#include "base/json_impl.h"
#include "ledger/database.h"
#include "ledger/schema.h"

namespace whet {
namespace {

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::optional<std::string> run_of(const Judgement& judgement) {
  return judgement.run.empty() ? std::nullopt : std::optional(judgement.run);
}

Status insert_evaluation(Database& database, const Judgement& judgement) {
  const Evaluation& evaluation = judgement.evaluation;
  const Scoreboard& board = evaluation.scoreboard;
  const auto part = [&](double Ratio::*member) {
    return board.geomean_vs_fastest ? std::optional((*board.geomean_vs_fastest).*member) : std::nullopt;
  };
  std::string artifact;
  for (const SolutionFacts& facts : evaluation.solutions)
    if (facts.role == "candidate") artifact = facts.artifact;
  return database.run(
      "INSERT INTO evaluations (id, task, task_hash, solution, solution_hash, \"set\", code, correct, total, at_par, geomean, geomean_low, geomean_high, "
      "noise_floor, started_at, worker, artifact, run, sequence, purpose, request_hash, summary, wall_seconds) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23)",
      evaluation.id, evaluation.task, evaluation.task_hash, evaluation.solution, evaluation.solution_hash, evaluation.set,
      static_cast<int>(evaluation.verdict.code), board.workloads_correct, board.workloads_total, board.at_par, part(&Ratio::value), part(&Ratio::low),
      part(&Ratio::high), evaluation.noise_floor, evaluation.started_at, evaluation.worker, artifact, run_of(judgement),
      judgement.run.empty() ? std::nullopt : std::optional(judgement.sequence), judgement.purpose, judgement.request_hash, judgement.summary,
      judgement.wall_seconds);
}

Status insert_document(Database& database, int64_t number, const Judgement& judgement) {
  return database.run("INSERT INTO documents (number, evaluation, request, families, usage) VALUES (?1, ?2, ?3, ?4, ?5)", number,
                      text_of(to_json(judgement.evaluation)), text_of(to_json(judgement.request)), text_of(Json(judgement.families)), judgement.usage);
}

Status insert_samples(Database& database, int64_t number, const Evaluation& evaluation) {
  WHET_TRY(Statement insert, database.prepare("INSERT INTO samples VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"));
  for (const WorkloadResult& result : evaluation.workloads)
    for (const Trial& trial : result.trials)
      for (const auto& [column, samples] : trial.samples)
        for (const Sample& sample : samples) {
          auto discarded = sample.discarded.empty() ? std::nullopt : std::optional<std::string_view>(sample.discarded);
          WHET_OK(insert.bind(number, result.workload, trial.solution, name_of(column), sample.draw, sample.position, sample.ns, discarded));
          WHET_OK(insert.run());
        }
  return {};
}

Status insert_blobs(Database& database, const std::map<std::string, std::string>& blobs) {
  WHET_TRY(Statement insert, database.prepare("INSERT INTO blobs (sha256, contents) VALUES (?1, ?2) ON CONFLICT DO NOTHING"));
  WHET_TRY(Statement known, database.prepare("SELECT 1 FROM blobs WHERE sha256 = ?1"));
  for (const auto& [hash, contents] : blobs) {
    WHET_OK(known.bind(hash));
    WHET_TRY(bool there, known.step());
    if (there) continue;
    if (sha256_hex(contents) != hash) return bad_input("{}: contents given for the hash {} are not those", database.path(), hash);
    WHET_OK(insert.bind(hash, Blob{contents}));
    WHET_OK(insert.run());
  }
  return {};
}

Status check_manifest(Database& database, const Manifest& manifest) {
  WHET_TRY(Statement known, database.prepare("SELECT 1 FROM blobs WHERE sha256 = ?1"));
  for (const auto& [path, hash] : manifest) {
    WHET_OK(known.bind(hash));
    WHET_TRY(bool there, known.step());
    if (!there) return bad_input("{}: the contents of {} ({}) were not given and are not in the ledger", database.path(), path, hash);
  }
  return {};
}

Status check_manifests(Database& database, const EvaluateRequest& request) {
  WHET_OK(check_manifest(database, request.task));
  WHET_OK(check_manifest(database, request.solution.manifest));
  for (const SolutionRef& baseline : request.baselines.value_or(std::vector<SolutionRef>{})) WHET_OK(check_manifest(database, baseline.manifest));
  return {};
}

constexpr std::string_view kJudgementColumns =
    "SELECT evaluations.id, coalesce(run, ''), coalesce(sequence, 0), purpose, request_hash, summary, wall_seconds, documents.evaluation, request, families, "
    "usage FROM evaluations JOIN documents USING (number) ";

Expected<Evaluation> read_evaluation(const Database& database, const std::string& id, const std::string& text) {
  const std::string where = database.path() + ": Evaluation " + id;
  WHET_TRY(Json json, parse_json(text, where));
  return evaluation_from_json(json, where);
}

Expected<Judgement> read_judgement(const Database& database, const Statement& row) {
  Judgement judgement;
  const std::string id = row.text(0), where = database.path() + ": Evaluation " + id;
  judgement.run = row.text(1);
  judgement.sequence = static_cast<int>(row.integer(2));
  judgement.purpose = row.text(3);
  judgement.request_hash = row.text(4);
  judgement.summary = row.text(5);
  judgement.wall_seconds = row.number(6);
  WHET_TRY(judgement.evaluation, read_evaluation(database, id, row.text(7)));
  WHET_TRY(Json request, parse_json(row.text(8), where + ": request"));
  WHET_TRY(judgement.request, evaluate_request_from_json(request, where + ": request"));
  WHET_TRY(Json families, parse_json(row.text(9), where + ": families"));
  for (const Json& family : families)
    if (family.is_string()) judgement.families.push_back(family.get<std::string>());
  judgement.usage = row.text(10);
  return judgement;
}

// The one id of `table` that begins so.
Expected<std::string> whole_id(Database& database, const std::string& table, const std::string& what, const std::string& prefix) {
  WHET_TRY(Statement row, database.query("SELECT id FROM " + table + " WHERE id >= ?1 AND substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 5", prefix));
  std::vector<std::string> ids;
  for (;;) {
    WHET_TRY(bool more, row.step());
    if (!more) break;
    ids.push_back(row.text(0));
  }
  if (ids.size() == 1 || (!ids.empty() && ids.front() == prefix)) return ids.front();
  if (ids.empty() || prefix.empty()) return bad_input("{}: no {} \"{}\"; `whet ledger` lists them", database.path(), what, prefix);
  return bad_input("{}: several {}s begin with \"{}\": {}{}; give more of it", database.path(), what, prefix, fmt::join(ids, ", "), ids.size() == 5 ? ", ..." : "");
}

Expected<std::unique_ptr<Database>> open_database(const std::string& path, bool create) {
  WHET_TRY(std::unique_ptr<Database> database, Database::open(path, create));
  WHET_OK(bring_up_to_date(*database));
  return database;
}

constexpr std::string_view kRunColumns =
    "SELECT id, task, task_hash, director, agent, options, folder, state, started_at, ended_at, "
    "(SELECT count(*) FROM evaluations WHERE evaluations.run = runs.id) FROM runs ";

RunRow read_run(const Statement& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.text(5), row.text(6), row.text(7), row.text(8), row.text(9),
          static_cast<int>(row.integer(10))};
}

}  // namespace

Ledger::Ledger(std::unique_ptr<Database> database) : database_(std::move(database)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;
const std::string& Ledger::path() const { return database_->path(); }

Expected<Ledger> Ledger::open(const std::string& path) {
  WHET_TRY(std::unique_ptr<Database> database, open_database(path, true));
  return Ledger(std::move(database));
}

Expected<Ledger> Ledger::open_existing(const std::string& path) {
  if (access(path.c_str(), F_OK) != 0)
    return bad_input("{}: there is no ledger; `whet evaluate` makes one, --ledger names another", path);
  WHET_TRY(std::unique_ptr<Database> database, open_database(path, false));
  return Ledger(std::move(database));
}

Expected<bool> Ledger::add(const Judgement& judgement, const std::map<std::string, std::string>& blobs) {
  if (judgement.evaluation.id.empty()) return bad_input("{}: an Evaluation without an id cannot be written", path());
  WHET_TRY(Transaction transaction, Transaction::begin(*database_));
  WHET_TRY(Statement known, database_->query("SELECT 1 FROM evaluations WHERE id = ?1", judgement.evaluation.id));
  WHET_TRY(bool there, known.step());
  if (there) return false;
  WHET_OK(insert_blobs(*database_, blobs));
  WHET_OK(check_manifests(*database_, judgement.request));
  WHET_OK(insert_evaluation(*database_, judgement));
  const int64_t number = database_->last_row_id();
  WHET_OK(insert_document(*database_, number, judgement));
  WHET_OK(insert_samples(*database_, number, judgement.evaluation));
  WHET_OK(transaction.commit());
  return true;
}

Expected<std::optional<Evaluation>> Ledger::find(const std::string& run, const std::string& solution_hash, const std::string& request_hash) {
  WHET_TRY(Statement row, database_->query("SELECT evaluations.id, documents.evaluation FROM evaluations JOIN documents USING (number) "
                                           "WHERE solution_hash = ?1 AND request_hash = ?2 AND (?3 = '' OR run = ?3) ORDER BY number DESC LIMIT 1",
                                           solution_hash, request_hash, run));
  WHET_TRY(bool there, row.step());
  if (!there) return std::nullopt;
  WHET_TRY(Evaluation evaluation, read_evaluation(*database_, row.text(0), row.text(1)));
  return std::optional(std::move(evaluation));
}

Expected<Judgement> Ledger::judgement(const std::string& id_or_prefix) {
  WHET_TRY(std::string id, whole_id(*database_, "evaluations", "Evaluation", id_or_prefix));
  WHET_TRY(Statement row, database_->query(std::string(kJudgementColumns) + "WHERE evaluations.id = ?1", id));
  WHET_TRY(bool there, row.step());
  if (!there) return bad_input("{}: the document of Evaluation {} is missing; the ledger is damaged", path(), id);
  return read_judgement(*database_, row);
}

Expected<Evaluation> Ledger::evaluation(const std::string& id_or_prefix) {
  WHET_TRY(Judgement judgement, this->judgement(id_or_prefix));
  return std::move(judgement.evaluation);
}

Expected<std::vector<Judgement>> Ledger::judgements_of(const std::string& run) {
  WHET_TRY(Statement row, database_->query(std::string(kJudgementColumns) + "WHERE run = ?1 ORDER BY sequence", run));
  std::vector<Judgement> judgements;
  for (;;) {
    WHET_TRY(bool more, row.step());
    if (!more) return judgements;
    WHET_TRY(Judgement judgement, read_judgement(*database_, row));
    judgements.push_back(std::move(judgement));
  }
}

Expected<std::vector<EvaluationRow>> Ledger::list(const ListFilter& filter) {
  std::string sql =
      "SELECT id, task, solution, solution_hash, \"set\", started_at, coalesce(run, ''), purpose, summary, code, correct, total, at_par, geomean, geomean_low, "
      "geomean_high FROM evaluations WHERE ?1 = ?1 AND ?2 = ?2 AND ?3 = ?3 AND ?4 = ?4 AND ?5 = ?5";
  if (!filter.task.empty()) sql += " AND task = ?1";
  if (!filter.solution.empty()) sql += " AND (solution = ?2 OR substr(solution_hash, 1, length(?2)) = ?2)";
  if (!filter.run.empty()) sql += " AND run = ?3";
  if (!filter.purpose.empty()) sql += " AND purpose = ?4";
  if (filter.code) sql += " AND code = ?5";
  sql += " ORDER BY number DESC LIMIT ?6";
  WHET_TRY(Statement row, database_->query(sql, filter.task, filter.solution, filter.run, filter.purpose, filter.code ? static_cast<int>(*filter.code) : 0,
                                           filter.limit > 0 ? filter.limit : -1));
  std::vector<EvaluationRow> rows;
  for (;;) {
    WHET_TRY(bool more, row.step());
    if (!more) return rows;
    EvaluationRow& next = rows.emplace_back();
    int column = 0;
    for (std::string* text : {&next.id, &next.task, &next.solution, &next.solution_hash, &next.set, &next.started_at, &next.run, &next.purpose, &next.summary})
      *text = row.text(column++);
    next.code = static_cast<Code>(row.integer(9));
    next.correct = static_cast<int>(row.integer(10));
    next.total = static_cast<int>(row.integer(11));
    next.at_par = static_cast<int>(row.integer(12));
    if (!row.is_null(13)) next.geomean = Ratio{row.number(13), row.number(14), row.number(15)};
  }
}

Status Ledger::add_blobs(const std::map<std::string, std::string>& blobs) {
  WHET_TRY(Transaction transaction, Transaction::begin(*database_));
  WHET_OK(insert_blobs(*database_, blobs));
  return transaction.commit();
}

Expected<std::string> Ledger::blob(const std::string& sha256) {
  WHET_TRY(Statement row, database_->query("SELECT contents FROM blobs WHERE sha256 = ?1", sha256));
  WHET_TRY(bool there, row.step());
  if (!there) return bad_input("{}: no contents with the hash {}", path(), sha256);
  std::string contents = row.text(0);
  if (sha256_hex(contents) != sha256)
    return bad_input("{}: the contents with the hash {} have changed; the ledger is damaged, restore it from a copy", path(), sha256);
  return contents;
}

Expected<std::map<std::string, std::string>> Ledger::files(const Manifest& manifest) {
  std::map<std::string, std::string> files;
  for (const auto& [name, hash] : manifest) {
    WHET_TRY_IN(name, files[name], blob(hash));
  }
  return files;
}

Status Ledger::begin_run(const RunRow& run) {
  WHET_TRY(Statement known, database_->query("SELECT 1 FROM runs WHERE id = ?1", run.id));
  WHET_TRY(bool there, known.step());
  if (there) return bad_input("{}: there is a run \"{}\" already; `whet resume` goes on with it, or choose another name", path(), run.id);
  return database_->run("INSERT INTO runs (id, task, task_hash, director, agent, options, folder, state, started_at, ended_at) "
                        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                        run.id, run.task, run.task_hash, run.director, run.agent, run.options, run.folder, run.state, run.started_at, run.ended_at);
}

Status Ledger::end_run(const std::string& id, const std::string& state, const std::string& ended_at) {
  WHET_OK(database_->run("UPDATE runs SET state = ?2, ended_at = ?3 WHERE id = ?1", id, state, ended_at));
  if (database_->changes() == 0) return bad_input("{}: no run \"{}\"", path(), id);
  return {};
}

Expected<RunRow> Ledger::run(const std::string& id_or_prefix) {
  WHET_TRY(std::string id, whole_id(*database_, "runs", "run", id_or_prefix));
  WHET_TRY(Statement row, database_->query(std::string(kRunColumns) + "WHERE id = ?1", id));
  WHET_OK(row.step());
  return read_run(row);
}

Expected<std::vector<RunRow>> Ledger::runs(int limit) {
  WHET_TRY(Statement row, database_->query(std::string(kRunColumns) + "ORDER BY number DESC LIMIT ?1", limit > 0 ? limit : -1));
  std::vector<RunRow> runs;
  for (;;) {
    WHET_TRY(bool more, row.step());
    if (!more) return runs;
    runs.push_back(read_run(row));
  }
}

Expected<std::vector<std::string>> Ledger::check() {
  std::vector<std::string> complaints;
  WHET_TRY(Statement sound, database_->prepare("PRAGMA integrity_check(20)"));
  for (;;) {
    WHET_TRY(bool more, sound.step());
    if (!more) break;
    if (sound.text(0) != "ok") complaints.push_back(path() + ": " + sound.text(0));
  }
  if (!complaints.empty()) return complaints;

  WHET_TRY(Statement blobs, database_->prepare("SELECT sha256, contents FROM blobs"));
  for (;;) {
    WHET_TRY(bool more, blobs.step());
    if (!more) break;
    if (sha256_hex(blobs.text(1)) != blobs.text(0)) complaints.push_back(fmt::format("{}: blob {}: the contents are not those of its hash", path(), blobs.text(0)));
  }
  WHET_TRY(Statement rows, database_->prepare(std::string(kJudgementColumns) + "ORDER BY number"));
  for (;;) {
    WHET_TRY(bool more, rows.step());
    if (!more) break;
    auto judgement = read_judgement(*database_, rows);
    if (!judgement) {
      complaints.push_back(judgement.error().what);
      continue;
    }
    if (Status manifests = check_manifests(*database_, judgement->request); !manifests) complaints.push_back(manifests.error().what);
  }
  WHET_TRY(int64_t orphans, database_->integer_of("SELECT count(*) FROM evaluations WHERE number NOT IN (SELECT number FROM documents)"));
  if (orphans > 0) complaints.push_back(fmt::format("{}: {} Evaluations have lost their documents", path(), orphans));
  return complaints;
}

}  // namespace whet
