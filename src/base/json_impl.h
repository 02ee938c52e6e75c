// SPDX-License-Identifier: Apache-2.0
// Everything that reads or writes JSON includes this in its .cc file; it costs about a second of compile time.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// Parses text; the error names `where` (a file or a message) with line and column. Duplicate keys and non-finite numbers are errors.
// Nesting deeper than 200 is an error.
Expected<Json> parse_json(std::string_view text, const std::string& where);

// Reads members of one JSON object and collects every complaint instead of stopping at the first:
//   JsonReader in(json, "definitions/a.json", complaints);
//   name = in.string("name");  axes = in.object("axes");
// `where` is the path of keys so far ("workload.axes"). A missing or mistyped member yields a default value and a complaint
// "definitions/a.json: axes.q_len.value: expected a non-negative integer, found \"x\"".
class JsonReader {
 public:
  JsonReader(const Json& json, std::string file, std::string path, std::vector<std::string>& complaints);

  bool has(const char* key) const;
  std::string string(const char* key);                                       // required, non-empty
  std::string string_or(const char* key, std::string fallback);              // optional
  int64_t integer(const char* key, int64_t low = std::numeric_limits<int64_t>::min(),
                  int64_t high = std::numeric_limits<int64_t>::max());
  int64_t integer_or(const char* key, int64_t fallback, int64_t low = std::numeric_limits<int64_t>::min(),
                     int64_t high = std::numeric_limits<int64_t>::max());
  double number(const char* key);
  double number_or(const char* key, double fallback);
  bool boolean_or(const char* key, bool fallback);
  std::vector<std::string> strings_or_empty(const char* key);
  const Json& object(const char* key);                                       // required; an empty object when it is not there
  const Json& array(const char* key);
  const Json* find(const char* key) const;                                   // null when absent or null

  void complain(const std::string& key, const std::string& message);
  std::string path_of(const std::string& key) const;                         // "file: path.key"
  const std::string& file() const { return file_; }
  const std::string& path() const { return path_; }
  std::vector<std::string>& complaints() { return complaints_; }

 private:
  const Json* require(const char* key, const char* expected);

  const Json& json_;
  std::string file_;
  std::string path_;
  std::vector<std::string>& complaints_;
};

// A short rendering of a value for "found ...".
std::string brief(const Json& json);

// Doubles as JSON: NaN and infinities become strings ("NaN", "Infinity", "-Infinity"), as FlashInfer Trace does.
Json json_double(double value);
double double_from_json(const Json& json);  // NaN when it is neither a number nor one of those strings

}  // namespace whet
