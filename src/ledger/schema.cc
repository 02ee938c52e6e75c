// SPDX-License-Identifier: Apache-2.0
#include "ledger/schema.h"

#include <span>

namespace whet {
namespace {

// One step per version; a step that has been released is never changed.
constexpr const char* kSteps[] = {
    // 1
    R"(
CREATE TABLE blobs (
  sha256   TEXT PRIMARY KEY,
  contents BLOB NOT NULL
);
CREATE TABLE runs (
  number     INTEGER PRIMARY KEY,
  id         TEXT NOT NULL UNIQUE,
  task       TEXT NOT NULL,
  task_hash  TEXT NOT NULL,
  director   TEXT NOT NULL,
  agent      TEXT NOT NULL,
  options    TEXT NOT NULL,
  folder     TEXT NOT NULL,
  state      TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at   TEXT NOT NULL
);
-- What queries need of an Evaluation; the whole of it is in `documents`, which listings need not touch.
CREATE TABLE evaluations (
  number        INTEGER PRIMARY KEY,
  id            TEXT NOT NULL UNIQUE,
  task          TEXT NOT NULL,
  task_hash     TEXT NOT NULL,
  solution      TEXT NOT NULL,
  solution_hash TEXT NOT NULL,
  "set"         TEXT NOT NULL,
  code          INTEGER NOT NULL,
  correct       INTEGER NOT NULL,
  total         INTEGER NOT NULL,
  at_par        INTEGER NOT NULL,
  geomean       REAL,               -- against the fastest baseline per workload; NULL unless all are correct
  geomean_low   REAL,
  geomean_high  REAL,
  noise_floor   REAL,
  started_at    TEXT NOT NULL,
  worker        TEXT NOT NULL,
  artifact      TEXT NOT NULL,      -- of the candidate
  run           TEXT REFERENCES runs(id),
  sequence      INTEGER,
  purpose       TEXT NOT NULL,
  request_hash  TEXT NOT NULL,
  summary       TEXT NOT NULL,
  wall_seconds  REAL NOT NULL,
  CHECK ((run IS NULL) = (sequence IS NULL))
);
CREATE UNIQUE INDEX judged_once ON evaluations(run, solution_hash, request_hash) WHERE run IS NOT NULL;
CREATE UNIQUE INDEX in_order ON evaluations(run, sequence) WHERE run IS NOT NULL;
CREATE INDEX evaluations_by_request ON evaluations(solution_hash, request_hash);
CREATE INDEX evaluations_by_task ON evaluations(task);
CREATE INDEX evaluations_by_solution ON evaluations(solution);
CREATE TABLE documents (
  number     INTEGER PRIMARY KEY REFERENCES evaluations(number),
  evaluation TEXT NOT NULL,         -- JSON, whole
  request    TEXT NOT NULL,         -- JSON
  families   TEXT NOT NULL,         -- JSON
  usage      TEXT NOT NULL          -- JSON
);
-- The same samples as in the document, for SQL.
CREATE TABLE samples (
  evaluation INTEGER NOT NULL REFERENCES evaluations(number),
  workload   TEXT NOT NULL,
  solution   TEXT NOT NULL,
  "column"   TEXT NOT NULL,
  draw       INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  ns         REAL,
  discarded  TEXT                   -- the reason; NULL = used
);
CREATE INDEX samples_by_evaluation ON samples(evaluation);
)",
};

Status refuse_foreign(Database& database, int64_t version) {
  WHET_TRY(int64_t application, database.integer_of("PRAGMA application_id"));
  if (application == kApplicationId) return {};
  WHET_TRY(int64_t tables, database.integer_of("SELECT count(*) FROM sqlite_schema"));
  if (application == 0 && version == 0 && tables == 0) return {};  // a new file
  return bad_input("{}: is an SQLite file, but of another program, not a ledger; name another with --ledger", database.path());
}

Status take_steps(Database& database) {
  WHET_TRY(Transaction transaction, Transaction::begin(database));
  WHET_TRY(int64_t version, database.integer_of("PRAGMA user_version"));  // again: another program may have been faster
  for (auto step = static_cast<int>(version); step < newest_schema(); ++step) WHET_OK(database.execute(kSteps[step]));
  WHET_OK(database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, newest_schema()).c_str()));
  return transaction.commit();
}

}  // namespace

int newest_schema() { return static_cast<int>(std::size(kSteps)); }

Status bring_up_to_date(Database& database) {
  WHET_TRY(int64_t version, database.integer_of("PRAGMA user_version"));
  WHET_OK(refuse_foreign(database, version));
  if (version > newest_schema())
    return bad_input("{}: the ledger has schema {}, this whet knows schemas up to {}; use a newer whet, or name another ledger with --ledger", database.path(),
                     version, newest_schema());
  WHET_OK(database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON"));
  if (version == newest_schema()) return {};
  return take_steps(database);
}

}  // namespace whet
