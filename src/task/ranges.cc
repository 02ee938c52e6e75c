// SPDX-License-Identifier: Apache-2.0
#include "task/ranges.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "record/constraint.h"
#include "record/keys.h"

namespace whet {
namespace {

constexpr double kLargest = 9e15;  // integers that a double holds exactly

bool are_lengths(const TensorSpec& input) { return !input.is_scalar() && !is_float(input.dtype) && input.dtype != Dtype::boolean && input.shape->size() == 1; }

bool has_variable_axis(const Definition& definition, const std::string& name) {
  const Axis* axis = definition.axis(name);
  return axis && !axis->value;
}

class RangeCheck {
 public:
  RangeCheck(const TaskToml& toml, Task& task, std::vector<std::string>& complaints) : toml_(toml), task_(task), complaints_(complaints) {}

  void run() {
    for (const auto& [name, range] : task_.ranges) {
      if (!range.follows.empty()) settled_elsewhere_[name] = "follows from \"" + range.follows + "\"";
      if (!range.total.empty()) settled_elsewhere_[range.total] = "is the total of " + name;
      if (!range.longest.empty()) settled_elsewhere_[range.longest] = "is the longest of " + name;
    }
    for (auto& [name, range] : task_.ranges) {
      const std::string& own = name;
      if (any([&](const Definition& d) { return has_variable_axis(d, own); })) check_axis(name, range);
      else if (any([&](const Definition& d) { return d.input(own) && d.input(own)->is_scalar(); })) check_scalar(name, range);
      else if (any([&](const Definition& d) { return d.input(own) && are_lengths(*d.input(own)); })) check_lengths(name, range);
      else complain(name, "no Definition has a variable axis, a scalar or an integer tensor with one axis of this name" + suggestion(name, known_names()));
    }
  }

 private:
  template <class Test>
  bool any(const Test& test) const {
    return std::any_of(task_.definitions.begin(), task_.definitions.end(), test);
  }
  void complain(const std::string& key, const std::string& message) { complaints_.push_back(toml_.at("ranges." + key) + ": " + message); }

  std::vector<std::string> known_names() const {
    std::set<std::string> names;
    for (const Definition& definition : task_.definitions) {
      for (const Axis& axis : definition.axes)
        if (!axis.value) names.insert(axis.name);
      for (const TensorSpec& input : definition.inputs)
        if (input.is_scalar() || are_lengths(input)) names.insert(input.name);
    }
    return {names.begin(), names.end()};
  }

  void check_axis(const std::string& name, Range& range) {
    refuse_words_of_lengths(name, range);
    if (!range.follows.empty()) {
      for (const Definition& definition : task_.definitions)
        if (has_variable_axis(definition, name)) check_expression(name, range.follows, definition);
      return;
    }
    refuse_second_source(name);
    if (range.step < 0) range.step = 1;
    check_integers(name, range, true);
  }

  void check_scalar(const std::string& name, Range& range) {
    refuse_words_of_lengths(name, range);
    if (!range.follows.empty()) return complain(name, "only an axis follows from others; expected a list of values or { min, max, step }, found \"" + range.follows + "\"");
    refuse_second_source(name);
    const bool real = any([&](const Definition& d) { return d.input(name) && is_float(d.input(name)->dtype); });
    if (range.step < 0) range.step = real ? 0 : 1;
    if (!real) check_integers(name, range, false);
  }

  void check_lengths(const std::string& name, Range& range) {
    if (!range.follows.empty() || !range.values.empty()) return complain(name, "lengths are drawn from an interval; expected { min, max, total, longest }");
    if (range.step >= 0) complain(name + ".step", "lengths have no step");
    range.step = 1;
    check_integers(name, range, true);
    for (const Definition& definition : task_.definitions) {
      const TensorSpec* input = definition.input(name);
      if (!input || !are_lengths(*input)) continue;
      if (!range.most.empty()) check_expression(name + ".max", range.most, definition);
      if (!range.total.empty() && !has_variable_axis(definition, range.total))
        complain(name + ".total", definition.name + " has no variable axis \"" + range.total + "\"");
      const TensorSpec* longest = definition.input(range.longest);
      if (!range.longest.empty() && (!longest || !longest->is_scalar() || is_float(longest->dtype) || longest->dtype == Dtype::boolean))
        complain(name + ".longest", definition.name + " has no integer scalar \"" + range.longest + "\"");
    }
  }

  void refuse_words_of_lengths(const std::string& name, const Range& range) {
    if (!range.most.empty()) complain(name + ".max", "expected a number, found \"" + range.most + "\": only lengths end at an expression");
    if (!range.total.empty()) complain(name + ".total", "only an integer tensor with one axis has a total");
    if (!range.longest.empty()) complain(name + ".longest", "only an integer tensor with one axis has a longest");
  }

  void refuse_second_source(const std::string& name) {
    if (const auto other = settled_elsewhere_.find(name); other != settled_elsewhere_.end()) complain(name, "it " + other->second + " already; drop one of the two");
  }

  void check_integers(const std::string& name, const Range& range, bool not_negative) {
    std::vector<double> shown = range.values;
    if (shown.empty()) shown = {range.min, range.max, range.step};
    for (double value : shown)
      if (std::floor(value) != value || std::abs(value) > kLargest || (not_negative && value < 0))
        complain(name, fmt::format("expected integers{}, found {}", not_negative ? " >= 0" : "", value));
  }

  // Over the axes of this Definition that are drawn, not those that follow or are totals themselves.
  void check_expression(const std::string& key, const std::string& text, const Definition& definition) {
    std::map<std::string, int64_t> ones;
    std::vector<std::string> names;
    for (const Axis& axis : definition.axes)
      if (!settled_elsewhere_.count(axis.name)) ones[axis.name] = axis.value.value_or(1), names.push_back(axis.name);
    const IntegerResult result = evaluate_integer(text, ones);
    if (result.kind == IntegerResult::Kind::malformed) complain(key, "\"" + text + "\" is no expression: " + result.why);
    if (result.kind == IntegerResult::Kind::note)
      complain(key, fmt::format("\"{}\" is no expression over the axes of {} that are drawn ({})", text, definition.name, fmt::join(names, ", ")));
  }

  const TaskToml& toml_;
  Task& task_;
  std::vector<std::string>& complaints_;
  std::map<std::string, std::string> settled_elsewhere_;  // name -> how, for a complaint
};

}  // namespace

void check_ranges(const TaskToml& toml, Task& task, std::vector<std::string>& complaints) { RangeCheck(toml, task, complaints).run(); }

}  // namespace whet
