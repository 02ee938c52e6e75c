// SPDX-License-Identifier: Apache-2.0
#include "base/json_impl.h"

#include <set>

namespace whet {
namespace {

constexpr int kMaxDepth = 200;

// The library accepts duplicate keys silently (the last wins) and recurses without bound; a hostile file must not profit from either.
class Strict : public nlohmann::json_sax<Json> {
 public:
  explicit Strict(nlohmann::detail::json_sax_dom_parser<Json>& dom) : dom_(dom) {}
  bool null() override { return dom_.null(); }
  bool boolean(bool value) override { return dom_.boolean(value); }
  bool number_integer(number_integer_t value) override { return dom_.number_integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value > static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max()))
      return fail(fmt::format("the integer {} does not fit into 64 signed bits", value));
    return dom_.number_unsigned(value);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (!std::isfinite(value)) return fail("the number " + text + " is out of range");
    return dom_.number_float(value, text);
  }
  bool string(string_t& value) override { return dom_.string(value); }
  bool binary(binary_t& value) override { return dom_.binary(value); }
  bool start_object(std::size_t size) override {
    keys_.emplace_back();
    return deeper() && dom_.start_object(size);
  }
  bool key(string_t& value) override {
    if (!keys_.back().insert(value).second) return fail("the key \"" + value + "\" stands twice in one object");
    return dom_.key(value);
  }
  bool end_object() override {
    keys_.pop_back();
    --depth_;
    return dom_.end_object();
  }
  bool start_array(std::size_t size) override { return deeper() && dom_.start_array(size); }
  bool end_array() override {
    --depth_;
    return dom_.end_array();
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& exception) override {
    position_ = position;
    message_ = exception.what();
    if (auto bracket = message_.find("] "); bracket != std::string::npos) message_.erase(0, bracket + 2);
    if (auto colon = message_.find(": "); message_.rfind("parse error at", 0) == 0 && colon != std::string::npos) message_.erase(0, colon + 2);
    return false;
  }
  const std::string& message() const { return message_; }
  std::optional<std::size_t> position() const { return position_; }

 private:
  bool deeper() { return ++depth_ <= kMaxDepth || fail(fmt::format("nested deeper than {} levels", kMaxDepth)); }
  bool fail(std::string message) {
    message_ = std::move(message);
    return false;
  }

  nlohmann::detail::json_sax_dom_parser<Json>& dom_;
  std::vector<std::set<std::string>> keys_;
  int depth_ = 0;
  std::string message_;
  std::optional<std::size_t> position_;
};

std::string line_and_column(std::string_view text, std::size_t position) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i + 1 < position && i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++line;
      column = 1;
    } else {
      ++column;
    }
  }
  return fmt::format("line {}, column {}", line, column);
}

const Json& empty_object() {
  static const Json kEmpty = Json::object();
  return kEmpty;
}
const Json& empty_array() {
  static const Json kEmpty = Json::array();
  return kEmpty;
}

}  // namespace

Expected<Json> parse_json(std::string_view text, const std::string& where) {
  Json json;
  nlohmann::detail::json_sax_dom_parser<Json> dom(json, false);
  Strict strict(dom);
  try {
    if (Json::sax_parse(text.begin(), text.end(), &strict)) return json;
  } catch (const std::exception& exception) {
    return bad_input("{}: not JSON: {}", where, exception.what());
  }
  if (strict.position())
    return bad_input("{}: not JSON at {}: {}", where, line_and_column(text, *strict.position()), strict.message());
  return bad_input("{}: {}", where, strict.message());
}

std::string brief(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

Json json_double(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

double double_from_json(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) {
    const auto& text = json.get_ref<const std::string&>();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  }
  return std::numeric_limits<double>::quiet_NaN();
}

JsonReader::JsonReader(const Json& json, std::string file, std::string path, std::vector<std::string>& complaints)
    : json_(json.is_object() ? json : empty_object()), file_(std::move(file)), path_(std::move(path)), complaints_(complaints) {
  if (!json.is_object())
    complaints_.push_back(fmt::format("{}: {}: expected an object, found {}", file_, path_.empty() ? "top level" : path_, brief(json)));
}

std::string JsonReader::path_of(const std::string& key) const {
  return file_ + ": " + (path_.empty() ? key : path_ + "." + key);
}

void JsonReader::complain(const std::string& key, const std::string& message) {
  complaints_.push_back(path_of(key) + ": " + message);
}

bool JsonReader::has(const char* key) const { return find(key) != nullptr; }

const Json* JsonReader::find(const char* key) const {
  auto it = json_.find(key);
  return it == json_.end() || it->is_null() ? nullptr : &*it;
}

const Json* JsonReader::require(const char* key, const char* expected) {
  const Json* member = find(key);
  if (!member) complain(key, std::string("missing; expected ") + expected);
  return member;
}

std::string JsonReader::string(const char* key) {
  const Json* member = require(key, "a non-empty string");
  if (!member) return "";
  if (!member->is_string() || member->get_ref<const std::string&>().empty()) {
    complain(key, "expected a non-empty string, found " + brief(*member));
    return "";
  }
  return member->get<std::string>();
}

std::string JsonReader::string_or(const char* key, std::string fallback) {
  const Json* member = find(key);
  if (!member) return fallback;
  if (!member->is_string()) {
    complain(key, "expected a string, found " + brief(*member));
    return fallback;
  }
  return member->get<std::string>();
}

int64_t JsonReader::integer(const char* key, int64_t low, int64_t high) {
  if (!require(key, "an integer")) return std::max<int64_t>(low, 0);
  return integer_or(key, std::max<int64_t>(low, 0), low, high);
}

int64_t JsonReader::integer_or(const char* key, int64_t fallback, int64_t low, int64_t high) {
  const Json* member = find(key);
  if (!member) return fallback;
  if (!member->is_number_integer() || member->get<int64_t>() < low || member->get<int64_t>() > high) {
    std::string range = low == std::numeric_limits<int64_t>::min() ? "an integer"
                        : high == std::numeric_limits<int64_t>::max() ? fmt::format("an integer >= {}", low)
                                                                      : fmt::format("an integer in [{}, {}]", low, high);
    complain(key, "expected " + range + ", found " + brief(*member));
    return fallback;
  }
  return member->get<int64_t>();
}

double JsonReader::number(const char* key) {
  if (!require(key, "a number")) return 0;
  return number_or(key, 0);
}

double JsonReader::number_or(const char* key, double fallback) {
  const Json* member = find(key);
  if (!member) return fallback;
  if (!member->is_number()) {
    complain(key, "expected a number, found " + brief(*member));
    return fallback;
  }
  return member->get<double>();
}

bool JsonReader::boolean_or(const char* key, bool fallback) {
  const Json* member = find(key);
  if (!member) return fallback;
  if (!member->is_boolean()) {
    complain(key, "expected true or false, found " + brief(*member));
    return fallback;
  }
  return member->get<bool>();
}

std::vector<std::string> JsonReader::strings_or_empty(const char* key) {
  std::vector<std::string> strings;
  const Json* member = find(key);
  if (!member) return strings;
  if (!member->is_array()) {
    complain(key, "expected a list of strings, found " + brief(*member));
    return strings;
  }
  for (const auto& item : *member) {
    if (item.is_string()) strings.push_back(item.get<std::string>());
    else complain(key, "expected a list of strings, found " + brief(item) + " in it");
  }
  return strings;
}

const Json& JsonReader::object(const char* key) {
  const Json* member = require(key, "an object");
  if (!member) return empty_object();
  if (!member->is_object()) {
    complain(key, "expected an object, found " + brief(*member));
    return empty_object();
  }
  return *member;
}

const Json& JsonReader::array(const char* key) {
  const Json* member = require(key, "a list");
  if (!member) return empty_array();
  if (!member->is_array()) {
    complain(key, "expected a list, found " + brief(*member));
    return empty_array();
  }
  return *member;
}

}  // namespace whet
