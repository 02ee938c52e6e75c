// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace whet {

// Bytes that are no text.
struct Blob {
  std::string_view bytes;
};

class Database;

// A prepared statement, bound and stepped. Columns count from 0. Stays valid no longer than its Database.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* statement) : database_(&database), statement_(statement) {}
  Statement(Statement&& other) noexcept : database_(other.database_), statement_(std::exchange(other.statement_, nullptr)) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Values for ?1, ?2, ...; also makes a stepped statement ready again. NaN becomes NULL. Texts must live until the last step().
  template <class... Values>
  Status bind(const Values&... values) {
    reset();
    int index = 0;
    Status status;
    ((status = status ? bind_one(++index, values) : status), ...);
    return status;
  }
  // True while there is a row.
  Expected<bool> step();
  // For statements without rows.
  Status run();

  int64_t integer(int column) const;
  double number(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;

 private:
  void reset();
  Status bind_one(int index, int64_t value);
  Status bind_one(int index, int value) { return bind_one(index, static_cast<int64_t>(value)); }
  Status bind_one(int index, double value);
  Status bind_one(int index, std::string_view value);
  Status bind_one(int index, const std::string& value) { return bind_one(index, std::string_view(value)); }
  Status bind_one(int index, const char* value) { return bind_one(index, std::string_view(value)); }
  Status bind_one(int index, Blob value);
  Status bind_one(int index, std::nullopt_t);
  template <class T>
  Status bind_one(int index, const std::optional<T>& value) {
    return value ? bind_one(index, *value) : bind_one(index, std::nullopt);
  }

  Database* database_;
  sqlite3_stmt* statement_;
};

// A connection to one SQLite file.
class Database {
 public:
  static Expected<std::unique_ptr<Database>> open(const std::string& path, bool create);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::string& path() const { return path_; }
  Expected<Statement> prepare(std::string_view sql);
  Status execute(const char* sql);  // one or several statements without rows
  Expected<int64_t> integer_of(std::string_view sql);  // the first column of its first row

  template <class... Values>
  Expected<Statement> query(std::string_view sql, const Values&... values) {
    WHET_TRY(Statement statement, prepare(sql));
    WHET_OK(statement.bind(values...));
    return statement;
  }
  template <class... Values>
  Status run(std::string_view sql, const Values&... values) {
    WHET_TRY(Statement statement, query(sql, values...));
    return statement.run();
  }

  int64_t last_row_id() const;
  int64_t changes() const;
  // The file, what happened in words, and the remedy, for SQLite's result code.
  Error error(int code) const;

 private:
  Database(std::string path, sqlite3* connection) : path_(std::move(path)), connection_(connection) {}

  std::string path_;
  sqlite3* connection_;
};

// Everything until commit(), or nothing.
class Transaction {
 public:
  static Expected<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Status commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace whet
