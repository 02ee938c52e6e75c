// SPDX-License-Identifier: Apache-2.0
// For .cc files that read what this program itself wrote: every key is required and no other is allowed.
#pragma once

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_impl.h"

namespace whet {

// Reads one object of a document that must have exactly the expected form. The first complaint of the whole document is kept in a
// Failure that all readers of that document share; after it, reads yield defaults. Paths are put together only when something is wrong.
class ExactReader {
 public:
  struct Failure {
    std::string where;   // file or message, for the error's text
    std::optional<Error> error;
  };

  ExactReader(const Json& json, Failure& failure) : ExactReader(json, failure, nullptr, "", -1) {}
  ExactReader(const Json& json, const ExactReader& parent, std::string_view key) : ExactReader(json, parent.failure_, &parent, key, -1) {}
  ExactReader(const Json& json, const ExactReader& parent, std::string_view key, std::size_t index)
      : ExactReader(json, parent.failure_, &parent, key, static_cast<std::ptrdiff_t>(index)) {}
  ExactReader(const ExactReader&) = delete;

  // The member, or null (and a complaint) if it is missing. Each member may be read once.
  const Json* member(const char* key);
  // The member, or null without a complaint if it is missing.
  const Json* optional_member(const char* key);

  std::string string(const char* key);
  bool boolean(const char* key);
  double number(const char* key);  // accepts "NaN", "Infinity", "-Infinity"
  int integer(const char* key) { return static_cast<int>(whole(key, std::numeric_limits<int>::min(), std::numeric_limits<int>::max())); }
  int64_t whole(const char* key, int64_t low, int64_t high);
  std::vector<std::string> strings(const char* key);
  std::map<std::string, std::string> texts(const char* key);  // an object of strings
  const Json& array(const char* key);   // empty if it is not there
  const Json& object(const char* key);  // empty if it is not there

  // The same for a value that has been fetched already; `key` and `index` only name it.
  std::string string_of(const Json& value, std::string_view key, std::ptrdiff_t index = -1) const;
  double number_of(const Json& value, std::string_view key, std::ptrdiff_t index = -1) const;
  int integer_of(const Json& value, std::string_view key, std::ptrdiff_t index = -1) const;
  std::vector<std::string> strings_of(const Json& value, std::string_view key) const;

  // Complains if the object has a member that was not read.
  void finish();
  void complain(std::string_view key, const std::string& message, std::ptrdiff_t index = -1) const;
  bool failed() const { return failure_.error.has_value(); }

 private:
  ExactReader(const Json& json, Failure& failure, const ExactReader* parent, std::string_view key, std::ptrdiff_t index);
  std::string path() const;

  const Json& json_;
  Failure& failure_;
  const ExactReader* parent_;
  std::string_view key_;
  std::ptrdiff_t index_;
  std::vector<const char*> read_;
};

}  // namespace whet
