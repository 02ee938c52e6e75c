// SPDX-License-Identifier: Apache-2.0
#include "ledger/database.h"

#include <sqlite3.h>

#include <cmath>
#include <cstring>

namespace whet {
namespace {

constexpr int kBusyMilliseconds = 10'000;

}  // namespace

Statement::~Statement() { sqlite3_finalize(statement_); }

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

Status Statement::bind_one(int index, int64_t value) {
  int code = sqlite3_bind_int64(statement_, index, value);
  return code == SQLITE_OK ? Status{} : std::unexpected(database_->error(code));
}

Status Statement::bind_one(int index, double value) {
  int code = std::isnan(value) ? sqlite3_bind_null(statement_, index) : sqlite3_bind_double(statement_, index, value);
  return code == SQLITE_OK ? Status{} : std::unexpected(database_->error(code));
}

Status Statement::bind_one(int index, std::string_view value) {
  // A null pointer would bind NULL.
  const char* bytes = value.data() ? value.data() : "";
  int code = sqlite3_bind_text64(statement_, index, bytes, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  return code == SQLITE_OK ? Status{} : std::unexpected(database_->error(code));
}

Status Statement::bind_one(int index, Blob value) {
  const char* bytes = value.bytes.data() ? value.bytes.data() : "";
  int code = sqlite3_bind_blob64(statement_, index, bytes, value.bytes.size(), SQLITE_STATIC);
  return code == SQLITE_OK ? Status{} : std::unexpected(database_->error(code));
}

Status Statement::bind_one(int index, std::nullopt_t) {
  int code = sqlite3_bind_null(statement_, index);
  return code == SQLITE_OK ? Status{} : std::unexpected(database_->error(code));
}

Expected<bool> Statement::step() {
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  Error error = database_->error(code);
  sqlite3_reset(statement_);
  return std::unexpected(std::move(error));
}

Status Statement::run() {
  WHET_OK(step());
  sqlite3_reset(statement_);
  return {};
}

int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::number(int column) const { return sqlite3_column_double(statement_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_, column);  // blob and text alike; first, because it may convert
  int size = sqlite3_column_bytes(statement_, column);
  return bytes ? std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size)) : "";
}

Expected<std::unique_ptr<Database>> Database::open(const std::string& path, bool create) {
  sqlite3* connection = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0), nullptr);
  std::unique_ptr<Database> database(new Database(path, connection));
  if (code != SQLITE_OK) return std::unexpected(database->error(code));
  sqlite3_extended_result_codes(connection, 0);
  sqlite3_busy_timeout(connection, kBusyMilliseconds);
  // A file that cannot be written is opened for reading without a word.
  if (sqlite3_db_readonly(connection, "main") == 1) return std::unexpected(database->error(SQLITE_READONLY));
  return database;
}

Database::~Database() { sqlite3_close_v2(connection_); }

Expected<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return std::unexpected(error(code));
  return Statement(*this, statement);
}

Status Database::execute(const char* sql) {
  int code = sqlite3_exec(connection_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status{} : std::unexpected(error(code));
}

Expected<int64_t> Database::integer_of(std::string_view sql) {
  WHET_TRY(Statement statement, prepare(sql));
  WHET_TRY(bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

int64_t Database::last_row_id() const { return sqlite3_last_insert_rowid(connection_); }
int64_t Database::changes() const { return sqlite3_changes64(connection_); }

Error Database::error(int code) const {
  auto say = [&](const std::string& what, Blame blame) { return Error{path_ + ": " + what, blame}; };
  const std::string detail = connection_ ? sqlite3_errmsg(connection_) : sqlite3_errstr(code);
  const int system = connection_ ? sqlite3_system_errno(connection_) : 0;
  const std::string reason = system ? std::strerror(system) : detail;
  switch (code & 0xff) {
    case SQLITE_NOTADB: return say("is not a ledger (no SQLite file); name another with --ledger, or move it away and a new one is made", Blame::input);
    case SQLITE_CORRUPT:
      return say(fmt::format("the ledger is damaged ({}); restore it from a copy, or save what can be read with `sqlite3 FILE .recover` into a new file", detail),
                 Blame::input);
    case SQLITE_READONLY: return say("the ledger cannot be written; give yourself write permission for the file and its folder, or name another with --ledger", Blame::input);
    case SQLITE_CANTOPEN: return say(fmt::format("the ledger cannot be opened ({}); name a file in a folder that exists and can be written", reason), Blame::input);
    case SQLITE_PERM: return say("no permission for the ledger; name another with --ledger", Blame::input);
    case SQLITE_FULL: return say("no space left for the ledger; nothing was half-written; make room on its disk and do it again", Blame::machine);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return say(fmt::format("another program has held the ledger for {} s; end it and do it again", kBusyMilliseconds / 1000), Blame::machine);
    case SQLITE_IOERR: return say(fmt::format("the disk failed under the ledger ({}); look at it before going on", reason), Blame::machine);
    case SQLITE_NOMEM: return say("not enough memory for the ledger", Blame::machine);
    default: return say("the ledger failed: " + detail, Blame::machine);
  }
}

Expected<Transaction> Transaction::begin(Database& database) {
  // At once for writing: a transaction that turned into a writer later could meet SQLITE_BUSY without a wait.
  WHET_OK(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Transaction::~Transaction() {
  if (database_) (void)database_->execute("ROLLBACK");
}

Status Transaction::commit() {
  WHET_OK(database_->execute("COMMIT"));  // on failure the destructor rolls back
  database_ = nullptr;
  return {};
}

}  // namespace whet
