// SPDX-License-Identifier: Apache-2.0
#include "face/cli/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "face/cli/suggest.h"

namespace whet {

void Arguments::position(std::string& value, std::string name, std::string help) {
  optional_position(value, std::move(name), std::move(help));
  rows_.back().required = true;
}

void Arguments::optional_position(std::string& value, std::string name, std::string help) {
  Row row;
  row.name = std::move(name);
  row.help = std::move(help);
  row.positional = true;
  row.take = [&value, name = row.name](const std::string& word) -> Status {
    if (word.empty()) return bad_input("{}: expected a name or a path, found nothing between the quotes", name);
    value = word;
    return {};
  };
  rows_.push_back(std::move(row));
}

void Arguments::option(const std::string& flag, std::string help, bool repeats, std::function<Status(const std::string&)> take) {
  Row row;
  const auto space = flag.find(' ');
  row.name = flag.substr(0, space);
  if (space != std::string::npos) row.placeholder = flag.substr(space + 1);
  row.help = std::move(help);
  row.repeats = repeats;
  row.take = std::move(take);
  rows_.push_back(std::move(row));
}

void Arguments::text(std::string& value, std::string flag, std::string help) {
  const std::string name = flag.substr(0, flag.find(' '));
  option(flag, std::move(help), false, [&value, name](const std::string& word) -> Status {
    if (word.empty()) return bad_input("{}: expected a value, found nothing between the quotes", name);
    value = word;
    return {};
  });
}

void Arguments::texts(std::vector<std::string>& values, std::string flag, std::string help) {
  option(flag, std::move(help), true, [&values](const std::string& word) -> Status {
    values.push_back(word);
    return {};
  });
}

void Arguments::number(double& value, std::string flag, std::string help, double low, double high) {
  const std::string name = flag.substr(0, flag.find(' '));
  option(flag, std::move(help), false, [&value, name, low, high](const std::string& word) -> Status {
    double parsed = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), parsed);
    if (error != std::errc() || end != word.data() + word.size() || !(parsed >= low && parsed <= high))
      return bad_input("{}: expected a number from {:g} to {:g}, found '{}'", name, low, high, word);
    value = parsed;
    return {};
  });
}

void Arguments::integer(int& value, std::string flag, std::string help, int low, int high) {
  const std::string name = flag.substr(0, flag.find(' '));
  option(flag, std::move(help), false, [&value, name, low, high](const std::string& word) -> Status {
    int parsed = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), parsed);
    if (error != std::errc() || end != word.data() + word.size() || parsed < low || parsed > high) {
      const bool open = high == std::numeric_limits<int>::max();
      const std::string range = open ? fmt::format("{} or more", low) : fmt::format("{} to {}", low, high);
      return bad_input("{}: expected a whole number, {}, found '{}'", name, range, word);
    }
    value = parsed;
    return {};
  });
}

void Arguments::flag(bool& value, std::string flag, std::string help) {
  option(flag, std::move(help), false, [&value](const std::string&) -> Status {
    value = true;
    return {};
  });
}

Status Arguments::parse(const std::vector<std::string>& words) {
  // CLI11 cuts the words into options and positions; all messages are ours, so that they stay the same whatever version is installed.
  std::vector<std::vector<std::string>> values(rows_.size());
  std::vector<std::string> unknown;
  std::vector<CLI::Option*> options(rows_.size());
  try {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      if (!row.positional && row.placeholder.empty())
        options[i] = app.add_flag(row.name);
      else
        options[i] = app.add_option(row.name, values[i])->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->allow_extra_args(false);
    }
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    unknown = app.remaining();
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i].count = static_cast<int>(options[i]->count());
  } catch (const CLI::ArgumentMismatch& mismatch) {
    const std::string what = mismatch.what();  // "--set: 1 required TEXT missing"
    return bad_input("{}: expected a value after it, found none", what.substr(0, what.find(':')));
  } catch (const CLI::ParseError& error) {
    return bad_input("{}", error.what());
  }
  for (const std::string& word : unknown) {
    if (word.empty() || word[0] != '-') return bad_input("unexpected argument '{}'", word);
    std::vector<std::string> names;
    for (const Row& row : rows_)
      if (!row.positional) names.push_back(row.name);
    return bad_input("unknown option '{}'{}", word, did_you_mean(word.substr(0, word.find('=')), names));
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row& row = rows_[i];
    if (row.required && row.count == 0) return bad_input("{} is missing: {}", row.name, row.help);
    if (row.count > 1 && !row.repeats && !row.placeholder.empty()) return bad_input("{} stands {} times; it can be given once", row.name, row.count);
    if (row.count > 0 && values[i].empty()) WHET_OK(row.take(""));  // a flag
    for (const std::string& value : values[i]) WHET_OK(row.take(value));
  }
  return {};
}

bool Arguments::given(const std::string& flag) const {
  const Row* row = find(flag);
  return row && row->count > 0;
}

const Arguments::Row* Arguments::find(const std::string& name) const {
  const auto it = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.name == name; });
  return it == rows_.end() ? nullptr : &*it;
}

std::string Arguments::usage() const {
  std::string text = "Usage: " + whole_;
  for (const Row& row : rows_)
    if (row.positional) text += row.required ? " " + row.name : " [" + row.name + "]";
  const bool options = std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return !row.positional; });
  return text + (options ? " [options]" : "") + "\n";
}

std::string Arguments::table() const {
  constexpr std::size_t kColumn = 26, kWidth = 100;
  std::string text;
  const auto add = [&](const Row& row) {
    std::string left = "  " + row.name + (row.placeholder.empty() ? "" : " " + row.placeholder) + (row.repeats ? "..." : "");
    left += left.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - left.size(), ' ');
    text += left;
    std::size_t column = kColumn;
    std::size_t at = 0;
    while (at < row.help.size()) {  // word wrap
      const std::size_t end = std::min(row.help.find(' ', at), row.help.size());
      if (column > kColumn && column + 1 + end - at > kWidth) {
        text += "\n" + std::string(kColumn, ' ');
        column = kColumn;
      } else if (column > kColumn) {
        text += ' ';
        ++column;
      }
      text += row.help.substr(at, end - at);
      column += end - at;
      at = end + 1;
    }
    text += '\n';
  };
  for (const Row& row : rows_)
    if (row.positional) add(row);
  for (const Row& row : rows_)
    if (!row.positional) add(row);
  return text;
}

}  // namespace whet
