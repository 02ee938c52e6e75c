// SPDX-License-Identifier: Apache-2.0
#include "record/exact_reader.h"

#include <algorithm>

namespace whet {
namespace {

const Json& empty_object() {
  static const Json kEmpty = Json::object();
  return kEmpty;
}
const Json& empty_array() {
  static const Json kEmpty = Json::array();
  return kEmpty;
}

}  // namespace

ExactReader::ExactReader(const Json& json, Failure& failure, const ExactReader* parent, std::string_view key, std::ptrdiff_t index)
    : json_(json.is_object() ? json : empty_object()), failure_(failure), parent_(parent), key_(key), index_(index) {
  if (!json.is_object() && !failure_.error) {
    std::string here = path();
    failure_.error = Error{fmt::format("{}: {}: expected an object, found {}", failure_.where, here.empty() ? "top level" : here, brief(json)),
                           Blame::input};
  }
}

std::string ExactReader::path() const {
  std::string text = parent_ ? parent_->path() : "";
  if (!text.empty() && !key_.empty()) text += '.';
  text += key_;
  if (index_ >= 0) text += fmt::format("[{}]", index_);
  return text;
}

void ExactReader::complain(std::string_view key, const std::string& message, std::ptrdiff_t index) const {
  if (failure_.error) return;
  std::string text = path();
  if (!text.empty()) text += '.';
  text += key;
  if (index >= 0) text += fmt::format("[{}]", index);
  failure_.error = Error{fmt::format("{}: {}: {}", failure_.where, text, message), Blame::input};
}

const Json* ExactReader::optional_member(const char* key) {
  auto it = json_.find(key);
  if (it == json_.end()) return nullptr;
  read_.push_back(key);
  return &*it;
}

const Json* ExactReader::member(const char* key) {
  const Json* value = optional_member(key);
  if (!value) complain(key, "missing");
  return value;
}

std::string ExactReader::string_of(const Json& value, std::string_view key, std::ptrdiff_t index) const {
  if (value.is_string()) return value.get<std::string>();
  complain(key, "expected a string, found " + brief(value), index);
  return "";
}

double ExactReader::number_of(const Json& value, std::string_view key, std::ptrdiff_t index) const {
  bool named = value.is_string() && (value == "NaN" || value == "Infinity" || value == "-Infinity");
  if (value.is_number() || named) return double_from_json(value);
  complain(key, "expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", found " + brief(value), index);
  return 0;
}

int ExactReader::integer_of(const Json& value, std::string_view key, std::ptrdiff_t index) const {
  if (value.is_number_integer()) {
    auto number = value.get<int64_t>();
    if (number >= std::numeric_limits<int>::min() && number <= std::numeric_limits<int>::max()) return static_cast<int>(number);
  }
  complain(key, "expected an integer of 32 bits, found " + brief(value), index);
  return 0;
}

std::vector<std::string> ExactReader::strings_of(const Json& value, std::string_view key) const {
  std::vector<std::string> result;
  if (!value.is_array()) {
    complain(key, "expected a list of strings, found " + brief(value));
    return result;
  }
  result.reserve(value.size());
  for (std::size_t i = 0; i < value.size() && !failed(); ++i) result.push_back(string_of(value[i], key, static_cast<std::ptrdiff_t>(i)));
  return result;
}

std::string ExactReader::string(const char* key) {
  const Json* value = member(key);
  return value ? string_of(*value, key) : "";
}

bool ExactReader::boolean(const char* key) {
  const Json* value = member(key);
  if (value && !value->is_boolean()) complain(key, "expected true or false, found " + brief(*value));
  return value && value->is_boolean() && value->get<bool>();
}

double ExactReader::number(const char* key) {
  const Json* value = member(key);
  return value ? number_of(*value, key) : 0;
}

int64_t ExactReader::whole(const char* key, int64_t low, int64_t high) {
  const Json* value = member(key);
  if (!value) return 0;
  if (value->is_number_integer() && value->get<int64_t>() >= low && value->get<int64_t>() <= high) return value->get<int64_t>();
  complain(key, fmt::format("expected an integer from {} to {}, found {}", low, high, brief(*value)));
  return 0;
}

std::vector<std::string> ExactReader::strings(const char* key) {
  const Json* value = member(key);
  return value ? strings_of(*value, key) : std::vector<std::string>{};
}

std::map<std::string, std::string> ExactReader::texts(const char* key) {
  std::map<std::string, std::string> result;
  for (const auto& [name, value] : object(key).items()) {
    if (failed()) break;
    if (value.is_string())
      result[name] = value.get<std::string>();
    else
      complain(key, fmt::format("{}: expected a string, found {}", name, brief(value)));
  }
  return result;
}

const Json& ExactReader::array(const char* key) {
  const Json* value = member(key);
  if (value && value->is_array()) return *value;
  if (value) complain(key, "expected a list, found " + brief(*value));
  return empty_array();
}

const Json& ExactReader::object(const char* key) {
  const Json* value = member(key);
  if (value && value->is_object()) return *value;
  if (value) complain(key, "expected an object, found " + brief(*value));
  return empty_object();
}

void ExactReader::finish() {
  if (failed() || read_.size() == json_.size()) return;
  for (const auto& [key, value] : json_.items()) {
    bool known = std::any_of(read_.begin(), read_.end(), [&](const char* name) { return key == name; });
    if (!known) return complain(key, "unknown key");
  }
}

}  // namespace whet
