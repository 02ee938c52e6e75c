// SPDX-License-Identifier: Apache-2.0
#include "direction/agent/choices.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace whet {
namespace {

constexpr std::string_view kMark = "whet:tune";
constexpr std::string_view kForm = "inline constexpr TYPE NAME = VALUE;  // whet:tune {VALUE, ...} family=FAMILY";

// A choice and where its value stands in the text.
struct Located {
  Choice choice;
  std::size_t value_at = 0, value_size = 0;
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_value(char c) { return is_word(c) || c == ':' || c == '.' || c == '+' || c == '-' || c == '\''; }

// A line of comment may speak of choices; it declares none.
bool is_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && (line.substr(first, 2) == "//" || line[first] == '*');
}

// Reads one line from left to right; each step either succeeds or says what it wanted to see.
class LineReader {
 public:
  explicit LineReader(std::string_view line) : line_(line) {}

  void skip_spaces() {
    while (at_ < line_.size() && is_space(line_[at_])) ++at_;
  }
  bool literal(std::string_view text) {
    skip_spaces();
    if (line_.substr(at_, text.size()) != text) return fail(fmt::format("'{}'", text));
    at_ += text.size();
    return true;
  }
  bool peek(std::string_view text) {
    skip_spaces();
    return line_.substr(at_, text.size()) == text;
  }
  template <class Predicate>
  bool token(Predicate belongs, std::string& out, const char* wanted) {
    skip_spaces();
    const std::size_t from = at_;
    while (at_ < line_.size() && belongs(line_[at_])) ++at_;
    out = std::string(line_.substr(from, at_ - from));
    return !out.empty() || fail(wanted);
  }
  bool end() {
    skip_spaces();
    return at_ == line_.size() || fail("the end of the line");
  }
  bool fail(std::string wanted) {
    if (wanted_.empty()) {
      wanted_ = std::move(wanted);
      failed_at_ = at_;
    }
    return false;
  }
  std::size_t at() const { return at_; }
  std::string complaint() const {
    std::string found(line_.substr(failed_at_, 24));
    return fmt::format("expected {} in column {}, found {}", wanted_, failed_at_ + 1, found.empty() ? "the end of the line" : "'" + found + "'");
  }

 private:
  std::string_view line_;
  std::size_t at_ = 0, failed_at_ = 0;
  std::string wanted_;
};

bool read_list(LineReader& in, std::vector<std::string>& values) {
  if (!in.literal("{")) return false;
  if (in.peek("}")) return in.fail("at least one value between the braces");
  for (;;) {
    std::string value;
    if (!in.token(is_value, value, "a value")) return false;
    values.push_back(value);
    if (in.peek("}")) return in.literal("}");
    if (!in.peek(",")) return in.fail("',' or '}'");
    in.literal(",");
  }
}

bool read_line(LineReader& in, Located& out) {
  std::string type;
  const auto type_or_colons = [](char c) { return is_word(c) || c == ':'; };
  if (!in.literal("inline") || !in.literal("constexpr") || !in.token(type_or_colons, type, "a type of one word")) return false;
  if (!in.token(is_word, out.choice.name, "a name") || !in.literal("=")) return false;
  if (!in.token(is_value, out.choice.value, "a value without spaces")) return false;
  out.value_size = out.choice.value.size();
  out.value_at = in.at() - out.value_size;
  if (!in.literal(";") || !in.literal("//") || !in.literal(kMark)) return false;
  if (!read_list(in, out.choice.values)) return false;
  return in.literal("family=") && in.token(is_word, out.choice.family, "the name of a workload family") && in.end();
}

Status check_values(const Choice& choice) {
  std::set<std::string> seen;
  for (const std::string& value : choice.values)
    if (!seen.insert(value).second)
      return bad_input("{}:{}: {}: the value {} is listed twice; list each value once", choice.file, choice.line, choice.name, value);
  if (!seen.contains(choice.value))
    return bad_input("{}:{}: {}: expected one of {{{}}}, found {}; add it to the list or change the value", choice.file, choice.line, choice.name,
                     fmt::join(choice.values, ", "), choice.value);
  return {};
}

Status check_unique(const std::vector<Choice>& choices) {
  std::map<std::string, const Choice*> seen;
  for (const Choice& choice : choices)
    if (auto [at, fresh] = seen.emplace(choice.name, &choice); !fresh)
      return bad_input("{}:{}: the choice {} is already declared in {}:{}; give it another name", choice.file, choice.line, choice.name,
                       at->second->file, at->second->line);
  return {};
}

Expected<std::vector<Located>> locate(std::string_view text, const std::string& file) {
  std::vector<Located> all;
  int number = 0;
  for (std::size_t from = 0; from < text.size();) {
    std::size_t to = std::min(text.find('\n', from), text.size());
    const std::string_view line = text.substr(from, to - from);
    ++number;
    if (line.find(kMark) != std::string_view::npos && !is_comment(line)) {
      LineReader in(line);
      Located found{.choice = {.file = file, .line = number}};
      if (!read_line(in, found)) return bad_input("{}:{}: malformed choice: {}; the form is: {}", file, number, in.complaint(), kForm);
      found.value_at += from;
      WHET_OK(check_values(found.choice));
      all.push_back(std::move(found));
    }
    from = to + 1;
  }
  return all;
}

}  // namespace

Expected<std::vector<Choice>> parse_choices(std::string_view text, const std::string& file) {
  WHET_TRY(std::vector<Located> located, locate(text, file));
  std::vector<Choice> choices;
  for (Located& one : located) choices.push_back(std::move(one.choice));
  WHET_OK(check_unique(choices));
  return choices;
}

Expected<std::vector<Choice>> parse_choices(const std::map<std::string, std::string>& files) {
  std::vector<Choice> choices;
  for (const auto& [path, text] : files) {
    WHET_TRY(std::vector<Choice> of_file, parse_choices(text, path));
    choices.insert(choices.end(), of_file.begin(), of_file.end());
  }
  WHET_OK(check_unique(choices));
  return choices;
}

Expected<std::string> rewrite_choices(std::string_view text, const std::string& file, const std::map<std::string, std::string>& values) {
  WHET_TRY(std::vector<Located> located, locate(text, file));
  std::string result;
  std::size_t from = 0;
  for (const Located& one : located) {
    const auto wanted = values.find(one.choice.name);
    if (wanted == values.end()) continue;
    if (std::ranges::find(one.choice.values, wanted->second) == one.choice.values.end())
      return bad_input("{}:{}: {}: expected one of {{{}}}, found {}", file, one.choice.line, one.choice.name, fmt::join(one.choice.values, ", "),
                       wanted->second);
    result.append(text.substr(from, one.value_at - from)).append(wanted->second);
    from = one.value_at + one.value_size;
  }
  return result.append(text.substr(from));
}

Expected<std::map<std::string, std::string>> rewrite_choices(const std::map<std::string, std::string>& files,
                                                             const std::map<std::string, std::string>& values) {
  WHET_TRY(const std::vector<Choice> choices, parse_choices(files));
  for (const auto& [name, value] : values)
    if (std::ranges::find(choices, name, &Choice::name) == choices.end()) return bad_input("no file declares the choice {}", name);
  std::map<std::string, std::string> result;
  for (const auto& [path, text] : files) {
    WHET_TRY(result[path], rewrite_choices(text, path, values));
  }
  return result;
}

}  // namespace whet
