// SPDX-License-Identifier: Apache-2.0
#include "task/task_toml.h"

#include <fmt/format.h>

#include <stdexcept>

// What toml++ asserts of its input ("a = [1,}2]") it would take for granted where NDEBUG is defined: undefined behaviour on a malformed file. Here it
// throws, in every build. This is the only file that includes toml++.
static constexpr void refuse_unless(bool as_assumed) {
  if (!as_assumed) throw std::logic_error("a bracket, brace or value is where none can be");
}
#undef NDEBUG
#define TOML_ASSERT(expr) refuse_unless(static_cast<bool>(expr))
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "base/error.h"
#include "record/keys.h"
#include "task/toml_text.h"

namespace whet {
namespace {

std::string found(const toml::node& node) {
  if (auto text = node.value<std::string>(); text && node.is_string())
    return "\"" + (text->size() > 60 ? text->substr(0, 57) + "..." : *text) + "\"";
  if (node.is_integer()) return fmt::format("{}", *node.value<int64_t>());
  if (node.is_floating_point()) return fmt::format("{}", *node.value<double>());
  if (node.is_boolean()) return *node.value<bool>() ? "true" : "false";
  return node.is_array() ? "a list" : node.is_table() ? "a table" : "a date or time";
}

// Members of one table; the JsonReader of TOML.
class TomlReader {
 public:
  TomlReader(const toml::table& table, std::string path, TaskToml& out, std::vector<std::string>& complaints)
      : table_(table), path_(std::move(path)), out_(out), complaints_(complaints) {
    for (const auto& [key, node] : table_) out_.lines[path_of(key.str())] = static_cast<int>(node.source().begin.line);
  }

  void known_only(std::span<const std::string> known) {
    for (const auto& [key, node] : table_)
      if (std::find(known.begin(), known.end(), key.str()) == known.end())
        complain(key.str(), "unknown key" + suggestion(key.str(), known));
  }
  const toml::node* find(std::string_view key) const { return table_.get(key); }
  void complain(std::string_view key, const std::string& message) {
    complaints_.push_back(out_.at(path_of(key)) + ": " + message);
  }

  std::string string(std::string_view key) {
    const toml::node* node = require(key, "a non-empty string");
    if (!node) return "";
    auto text = node->is_string() ? node->value<std::string>() : std::nullopt;
    if (!text || text->empty()) complain(key, "expected a non-empty string, found " + found(*node));
    return text.value_or("");
  }
  std::string string_or(std::string_view key, std::string fallback) {
    return find(key) ? string(key) : std::move(fallback);
  }

  double number_or(std::string_view key, double fallback) {
    const toml::node* node = find(key);
    if (!node) return fallback;
    if ((node->is_integer() || node->is_floating_point()) && std::isfinite(*node->value<double>()))
      return *node->value<double>();
    complain(key, "expected a number, found " + found(*node));
    return fallback;
  }
  // > 0, or >= 0 when zero is allowed.
  double positive_or(std::string_view key, double fallback, bool zero = false) {
    const toml::node* node = find(key);
    if (!node) return fallback;
    const double value = node->is_integer() || node->is_floating_point() ? *node->value<double>() : NAN;
    if (std::isfinite(value) && (zero ? value >= 0 : value > 0)) return value;
    complain(key, fmt::format("expected a number {} 0, found {}", zero ? ">=" : ">", found(*node)));
    return fallback;
  }

  std::vector<std::string> strings(std::string_view key, bool required) {
    std::vector<std::string> list;
    const toml::node* node = required ? require(key, "a list of strings") : find(key);
    if (!node) return list;
    if (!node->is_array()) {
      complain(key, "expected a list of strings, found " + found(*node));
      return list;
    }
    for (const toml::node& item : *node->as_array()) {
      auto text = item.is_string() ? item.value<std::string>() : std::nullopt;
      if (!text || text->empty())
        complain(key, "expected a list of non-empty strings, found " + found(item) + " in it");
      else if (std::find(list.begin(), list.end(), *text) != list.end())
        complain(key, "\"" + *text + "\" stands twice");
      else list.push_back(*text);
    }
    if (required && list.empty() && node->as_array()->empty())
      complain(key, "expected at least one string, found none");
    return list;
  }

  const toml::table* table(std::string_view key, bool required) {
    const toml::node* node = required ? require(key, "a table") : find(key);
    if (node && !node->is_table()) complain(key, "expected a table, found " + found(*node));
    return node ? node->as_table() : nullptr;
  }
  std::string path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

 private:
  const toml::node* require(std::string_view key, const char* expected) {
    const toml::node* node = find(key);
    if (!node) complain(key, std::string("missing; expected ") + expected);
    return node;
  }

  const toml::table& table_;
  std::string path_;
  TaskToml& out_;
  std::vector<std::string>& complaints_;
};

void read_goal(const toml::table& table, TaskToml& out, std::vector<std::string>& complaints) {
  static const std::vector<std::string> kKeys = {"metric", "value"};
  TomlReader in(table, "goal", out, complaints);
  in.known_only(kKeys);
  out.task.goal.metric = in.string_or("metric", out.task.goal.metric);
  out.task.goal.value = in.positive_or("value", out.task.goal.value);
}

void read_tolerance(const toml::table& table, TaskToml& out, std::vector<std::string>& complaints) {
  static const std::vector<std::string> kKeys = {"rtol", "atol", "norm"};
  static const std::vector<std::string> kKnown = {"policy",   "float64",       "float32",     "float16",
                                                  "bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1"};
  TomlReader in(table, "tolerance", out, complaints);
  in.known_only(kKnown);
  out.task.tolerance_policy = in.string_or("policy", "");
  for (const std::string& name : kKnown) {
    if (name == "policy") continue;
    const toml::table* bounds = in.table(name, false);
    if (!bounds) continue;
    TomlReader one(*bounds, "tolerance." + name, out, complaints);
    one.known_only(kKeys);
    Tolerance& tolerance = out.task.tolerance[*dtype_from_name(name)];
    tolerance.rtol = one.positive_or("rtol", tolerance.rtol, true);
    tolerance.atol = one.positive_or("atol", tolerance.atol, true);
    tolerance.norm = one.positive_or("norm", tolerance.norm, true);
  }
}

Range read_interval(const toml::table& table, const std::string& path, TaskToml& out,
                    std::vector<std::string>& complaints) {
  static const std::vector<std::string> kKeys = {"min", "max", "step"};
  Range range;
  TomlReader in(table, path, out, complaints);
  in.known_only(kKeys);
  for (const char* key : {"min", "max"})
    if (!in.find(key)) in.complain(key, "missing; expected a number");
  range.min = in.number_or("min", 0);
  range.max = in.number_or("max", range.min);
  range.step = in.positive_or("step", -1);  // the default depends on what it is a range of
  if (range.max < range.min)
    in.complain("max", fmt::format("expected a number >= min = {}, found {}", range.min, range.max));
  return range;
}

void read_ranges(const toml::table& table, TaskToml& out, std::vector<std::string>& complaints) {
  TomlReader in(table, "ranges", out, complaints);
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (const toml::table* interval = node.as_table()) {
      out.task.ranges[name] = read_interval(*interval, "ranges." + name, out, complaints);
      continue;
    }
    const toml::array* list = node.as_array();
    if (!list || list->empty()) {
      in.complain(name,
                  "expected a list of values or { min, max, step }, found " + (list ? "an empty list" : found(node)));
      continue;
    }
    Range& range = out.task.ranges[name];
    for (const toml::node& item : *list) {
      if (item.is_boolean()) range.values.push_back(*item.value<bool>() ? 1 : 0);
      else if ((item.is_integer() || item.is_floating_point()) && std::isfinite(*item.value<double>()))
        range.values.push_back(*item.value<double>());
      else in.complain(name, "expected numbers or true and false, found " + found(item) + " in it");
    }
  }
}

void read_sets(const toml::table& table, TaskToml& out, std::vector<std::string>& complaints) {
  TomlReader in(table, "sets", out, complaints);
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    if (!is_plain_name(name) || name == "custom")
      in.complain(name, "the name of a set has letters, digits and . _ + = - only, and is not \"custom\"");
    out.task.sets[name] = in.string(name);
  }
}

void read_all(const toml::table& table, TaskToml& out, std::vector<std::string>& complaints) {
  static const std::vector<std::string> kKeys = {"name",      "title",  "target",   "definitions", "reference",
                                                 "baselines", "start",  "editable", "rules",       "goal",
                                                 "tolerance", "ranges", "sets"};
  TomlReader in(table, "", out, complaints);
  Task& task = out.task;
  in.known_only(kKeys);
  task.name = in.string("name");
  if (!task.name.empty() && !is_plain_name(task.name))
    in.complain("name", "expected letters, digits and . _ + = - only, found \"" + task.name + "\"");
  task.title = in.string("title");
  task.target = in.string_or("target", "cpu");
  if (task.target != "cpu" && task.target != "cuda")
    in.complain("target", "expected \"cpu\" or \"cuda\", found \"" + task.target + "\"");
  out.definitions = in.strings("definitions", true);
  task.reference = in.string("reference");
  task.baselines = in.strings("baselines", true);
  task.start = in.string("start");
  task.editable = in.strings("editable", true);
  task.rules = in.strings("rules", false);
  if (const toml::table* goal = in.table("goal", false)) read_goal(*goal, out, complaints);
  if (const toml::table* tolerance = in.table("tolerance", false)) read_tolerance(*tolerance, out, complaints);
  if (const toml::table* ranges = in.table("ranges", false)) read_ranges(*ranges, out, complaints);
  if (const toml::table* sets = in.table("sets", true)) read_sets(*sets, out, complaints);
}

}  // namespace

std::string TaskToml::at(const std::string& key) const {
  // A key that is not there has the line of the table in which it is missed.
  for (std::string known = key;; known.resize(known.rfind('.'))) {
    if (auto line = lines.find(known); line != lines.end()) return fmt::format("{}:{}: {}", file, line->second, key);
    if (known.find('.') == std::string::npos) return file + ": " + key;
  }
}

TaskToml task_toml_from_text(std::string_view text, const std::string& file, std::vector<std::string>& complaints) {
  TaskToml out;
  out.file = file;
  if (auto trap = toml_trap(text)) {
    const std::string_view before = text.substr(0, trap->offset);
    const std::size_t start = before.rfind('\n') + 1;  // 0 when there is none
    complaints.push_back(fmt::format("{}:{}: not TOML at column {}: {}", file,
                                     std::count(before.begin(), before.end(), '\n') + 1, before.size() - start + 1,
                                     trap->why));
    return out;
  }
  try {
    const toml::table table = toml::parse(text, file);
    read_all(table, out, complaints);
  } catch (const toml::parse_error& error) {
    complaints.push_back(fmt::format("{}:{}: not TOML at column {}: {}", file,
                                     static_cast<unsigned>(error.source().begin.line),
                                     static_cast<unsigned>(error.source().begin.column), error.description()));
  } catch (const std::exception& error) {
    complaints.push_back(fmt::format("{}: not TOML: {}; look at the commas, brackets and braces", file, error.what()));
  }
  return out;
}

}  // namespace whet
