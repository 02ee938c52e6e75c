// SPDX-License-Identifier: Apache-2.0
//
// Just enough JSON for the task's own files: nvcc compiles this, so the project's reader (C++23) cannot be used. Input is trusted; what is not
// JSON ends the program.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace hopper {

struct Json {
  enum class Type { null, boolean, number, string, list, object } type = Type::null;
  bool truth = false, is_integer = false;
  double number = 0;
  std::string text;
  std::vector<std::pair<std::string, Json>> members;  // in the file's order; lists have empty names

  const Json* find(const std::string& name) const {
    for (const auto& [key, value] : members)
      if (key == name) return &value;
    return nullptr;
  }
  const Json& at(const std::string& name) const {
    if (const Json* found = find(name)) return *found;
    std::fprintf(stderr, "missing key \"%s\"\n", name.c_str());
    std::exit(2);
  }
  long long integer() const { return static_cast<long long>(number); }
};

class JsonParser {
 public:
  explicit JsonParser(const std::string& text) : text_(text) {}
  Json parse() { return value(); }

 private:
  [[noreturn]] void fail(const char* expected) {
    std::fprintf(stderr, "not JSON at byte %zu: expected %s\n", at_, expected);
    std::exit(2);
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void expect(char c) {
    if (peek() != c) fail(&c);
    ++at_;
  }
  bool word(const char* w) {
    const std::string_view view(w);
    if (text_.compare(at_, view.size(), view) != 0) return false;
    at_ += view.size();
    return true;
  }
  std::string string() {
    expect('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      char c = text_[at_++];
      if (c == '\\' && at_ < text_.size()) {
        c = text_[at_++];
        if (c == 'n') c = '\n';
        if (c == 'u') at_ += 4, c = '?';
      }
      out += c;
    }
    expect('"');
    return out;
  }
  Json value() {
    Json json;
    switch (peek()) {
      case '{':
      case '[': {
        const bool object = text_[at_++] == '{';
        json.type = object ? Json::Type::object : Json::Type::list;
        const char end = object ? '}' : ']';
        if (peek() == end) return ++at_, json;
        for (;;) {
          peek();
          std::string name = object ? string() : std::string();
          if (object) expect(':');
          json.members.emplace_back(std::move(name), value());
          if (peek() == end) return ++at_, json;
          expect(',');
        }
      }
      case '"':
        json.type = Json::Type::string;
        json.text = string();
        return json;
      default:
        break;
    }
    if (word("null")) return json;
    if (word("true")) return json.type = Json::Type::boolean, json.truth = true, json;
    if (word("false")) return json.type = Json::Type::boolean, json;
    char* end = nullptr;
    json.number = std::strtod(text_.c_str() + at_, &end);
    const std::string token(text_.c_str() + at_, static_cast<const char*>(end));
    if (token.empty()) fail("a value");
    json.type = Json::Type::number;
    json.is_integer = token.find_first_of(".eE") == std::string::npos;
    at_ += token.size();
    return json;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace hopper
