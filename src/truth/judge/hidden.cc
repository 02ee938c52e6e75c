// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/hidden.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "record/constraint.h"
#include "record/recipe.h"
#include "truth/measure/draw.h"

namespace whet {
namespace {

constexpr int kTries = 200;                            // draws against a Definition's constraints
constexpr int64_t kMostBytes = int64_t{512} << 20;     // of all tensors of a hidden workload
constexpr size_t kShownLengths = 16;
constexpr double kTwoTo32 = 4294967296.0;

double drawn(const Range& range, uint32_t bits) {
  const double part = bits / kTwoTo32;  // [0, 1)
  if (!range.values.empty()) return range.values[static_cast<size_t>(part * static_cast<double>(range.values.size()))];
  if (range.step <= 0) return range.min + (range.max - range.min) * part;
  const double steps = std::floor((range.max - range.min) / range.step) + 1;
  return range.min + range.step * std::floor(part * steps);
}

// The first input whose contents hang on the axes that they were written for, in a way that the ranges do not say; "" if any axes do.
std::string bound_input(const Task& task, const Workload& workload) {
  for (const auto& [name, source] : workload.inputs) {
    using Kind = Recipe::Kind;
    if (source.kind == InputSource::Kind::scalar) continue;
    // Sums of another input's lengths: which axis those make up is not said anywhere.
    if (source.kind == InputSource::Kind::random && source.recipe.kind == Kind::cumsum_of) return name;
    if (task.ranges.count(name) || (source.kind == InputSource::Kind::random && source.recipe.kind != Kind::lengths)) continue;
    return name;
  }
  return "";
}

int64_t bytes_of(const Definition& definition, const Workload& workload) {
  int64_t sum = 0;
  for (const auto* tensors : {&definition.inputs, &definition.outputs})
    for (const TensorSpec& tensor : *tensors) {
      if (tensor.is_scalar()) continue;
      double bytes = static_cast<double>(size_of(tensor.dtype));
      for (int64_t extent : shape_of(definition, tensor, workload.axes)) bytes *= static_cast<double>(extent);
      if (bytes > static_cast<double>(kMostBytes)) return kMostBytes + 1;
      sum += static_cast<int64_t>(bytes);
    }
  return sum;
}

std::map<std::string, int64_t> all_axes(const Definition& definition, const Workload& workload) {
  std::map<std::string, int64_t> axes;
  const auto values = axis_values(definition, workload.axes);
  for (size_t i = 0; i < values.size(); ++i) axes[definition.axes[i].name] = values[i];
  return axes;
}

bool keeps_constraints(const Definition& definition, const Workload& workload) {
  const auto axes = all_axes(definition, workload);
  return std::none_of(definition.constraints.begin(), definition.constraints.end(), [&](const std::string& text) {
    const ConstraintResult::Kind kind = evaluate_constraint(text, axes).kind;
    return kind == ConstraintResult::Kind::violated || kind == ConstraintResult::Kind::no_value;
  });
}

// Lengths or axes that were drawn may not suit a recipe (more peaks than a row has elements).
bool recipes_fit(const Definition& definition, const Workload& workload) {
  return std::none_of(definition.inputs.begin(), definition.inputs.end(), [&](const TensorSpec& input) {
    const auto source = workload.inputs.find(input.name);
    return !input.is_scalar() && source != workload.inputs.end() && source->second.kind == InputSource::Kind::random &&
           !recipe_misfit(source->second.recipe, input, definition, workload).empty();
  });
}

class Draws {
 public:
  Draws(const Task& task, const std::string& secret) : task_(task), secret_(secret) {}

  std::optional<Workload> one(const Definition& definition, const std::vector<const Workload*>& templates, int number) {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      attempt_ = number * kTries + attempt;
      Workload workload = *templates[dice("template") % templates.size()];
      workload.name = workload.uuid = fmt::format("hidden-{}", number + 1);
      workload.family = "hidden";
      workload.sets.clear();
      workload.floor_bytes = workload.floor_flops = 0;
      for (auto& [name, value] : workload.axes)
        if (const Range* range = range_of(name); range && range->follows.empty()) value = std::llround(drawn(*range, dice(name)));
      for (auto& [name, source] : workload.inputs)
        if (const Range* range = source.kind == InputSource::Kind::scalar ? range_of(name) : nullptr) set_scalar(source, drawn(*range, dice(name)));
      workload.tolerance = tolerance_of(definition, workload.tolerance);
      if (let_axes_follow(definition, workload) && draw_lengths(definition, workload) && keeps_constraints(definition, workload) && bytes_of(definition, workload) <= kMostBytes &&
          recipes_fit(definition, workload))
        return workload;
    }
    return std::nullopt;
  }

  // [0, count) in an order of the secret's.
  std::vector<size_t> shuffled(size_t count) {
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t{0});
    for (size_t i = count; i > 1; --i) std::swap(order[i - 1], order[dice(fmt::format("order {}", i)) % i]);
    return order;
  }

 private:
  DrawKey key(const std::string& what) const { return derive_key(secret_, "hidden", attempt_, what); }
  uint32_t dice(const std::string& what) const { return key(what).words[0]; }

  const Range* range_of(const std::string& name) const {
    const auto found = task_.ranges.find(name);
    return found == task_.ranges.end() ? nullptr : &found->second;
  }

  bool let_axes_follow(const Definition& definition, Workload& workload) const {
    const auto drawn = all_axes(definition, workload);
    for (auto& [name, value] : workload.axes) {
      const Range* range = range_of(name);
      if (!range || range->follows.empty()) continue;
      const IntegerResult found = evaluate_integer(range->follows, drawn);
      if (found.kind != IntegerResult::Kind::value || found.value < 0 || found.value > kMostBytes) return false;
      value = found.value;
    }
    return true;
  }

  // Of every input that has a range of them, with the axes and scalars that hang on them.
  bool draw_lengths(const Definition& definition, Workload& workload) const {
    std::map<std::string, int64_t> longest;
    for (const TensorSpec& input : definition.inputs) {
      const Range* range = input.is_scalar() ? nullptr : range_of(input.name);
      if (!range) continue;
      const bool sums = !range->total.empty();
      const auto lengths = some_lengths(input.name, *range, shape_of(definition, input, workload.axes).front() - sums, all_axes(definition, workload));
      if (!lengths) return false;
      InputSource& source = workload.inputs[input.name];
      source = {};
      source.recipe.kind = Recipe::Kind::lengths;
      source.recipe.lengths = *lengths;
      if (sums) {
        std::vector<int64_t> ends = {0};
        for (int64_t length : *lengths) ends.push_back(ends.back() + length);
        if (ends.back() == 0 || ends.back() > kMostBytes) return false;  // a call about nothing; or one that no memory holds
        workload.axes[range->total] = ends.back();
        source.recipe.lengths = std::move(ends);
      }
      if (!range->longest.empty()) longest[range->longest] = std::max(longest[range->longest], lengths->empty() ? 0 : *std::max_element(lengths->begin(), lengths->end()));
    }
    for (const auto& [name, length] : longest) workload.inputs[name].scalar = length;
    return true;
  }

  // How long the longest may be is drawn first, or nearly all workloads would be as large as can be; in every other by octaves, so that short sequences (one
  // row: decoding) are as likely as long ones. That one and the shortest are the likeliest lengths.
  std::optional<std::vector<int64_t>> some_lengths(const std::string& name, const Range& range, int64_t count, const std::map<std::string, int64_t>& axes) const {
    int64_t most = std::llround(range.max);
    if (!range.most.empty()) {
      const IntegerResult found = evaluate_integer(range.most, axes);
      if (found.kind != IntegerResult::Kind::value) return std::nullopt;
      most = found.value;
    }
    const int64_t least = std::llround(range.min);
    if (count < 0 || most < least || most > kMostBytes) return std::nullopt;
    const DrawKey longest = key("longest of " + name);
    const auto span = static_cast<uint64_t>(most - least) >> (longest.words[1] % 2 ? 0 : longest.words[2] % static_cast<uint32_t>(std::bit_width(static_cast<uint64_t>(most - least)) + 1));
    most = least + static_cast<int64_t>(longest.words[0] % (span + 1));
    std::vector<int64_t> lengths;
    for (int64_t i = 0; i < count; ++i) {
      const uint32_t bits = dice(fmt::format("{} {}", name, i)), kind = bits % 8;
      lengths.push_back(kind == 0 ? least : kind == 1 ? most : least + static_cast<int64_t>(bits / 8 % static_cast<uint64_t>(most - least + 1)));
    }
    return lengths;
  }

  // The type that the workload gave it stays.
  static void set_scalar(InputSource& source, double value) {
    if (std::holds_alternative<bool>(source.scalar)) source.scalar = value != 0;
    else if (std::holds_alternative<double>(source.scalar)) source.scalar = value;
    else source.scalar = static_cast<int64_t>(std::llround(value));
  }

  // A workload's own was calibrated on its own shape, and so may be tighter than others need; where it is wider, its Definition needs that.
  Tolerance tolerance_of(const Definition& definition, const Tolerance& own) const {
    std::optional<Tolerance> loosest;
    for (const TensorSpec& output : definition.outputs)
      if (const auto found = task_.tolerance.find(output.dtype); found != task_.tolerance.end() && (!loosest || found->second.rtol > loosest->rtol)) loosest = found->second;
    if (!loosest) return own;
    return {std::max(own.rtol, loosest->rtol), std::max(own.atol, loosest->atol), own.norm < 0 || loosest->norm < 0 ? -1 : std::max(own.norm, loosest->norm)};
  }

  const Task& task_;
  const std::string& secret_;
  int attempt_ = -1;
};

}  // namespace

std::vector<Workload> hidden_workloads(const Task& task, const std::string& secret, int count, std::vector<std::string>& remarks) {
  std::vector<Workload> workloads;
  if (task.ranges.empty() || count <= 0) return workloads;
  std::vector<std::pair<const Definition*, std::vector<const Workload*>>> able;
  for (const Definition& definition : task.definitions) {
    std::vector<const Workload*> templates;
    std::string bound;
    for (const Workload& workload : task.workloads) {
      if (workload.definition != definition.name) continue;
      if (std::string input = bound_input(task, workload); input.empty()) templates.push_back(&workload);
      else bound = input;
    }
    if (templates.empty()) remarks.push_back(fmt::format("no hidden workloads of {}: [ranges] does not say what its {} may hold", definition.name, bound));
    else able.emplace_back(&definition, std::move(templates));
  }
  Draws draws(task, secret);
  const std::vector<size_t> order = draws.shuffled(able.size());
  for (int i = 0; i < count && !able.empty(); ++i) {
    const auto& [definition, templates] = able[order[static_cast<size_t>(i) % able.size()]];
    if (auto workload = draws.one(*definition, templates, i)) workloads.push_back(std::move(*workload));
  }
  if (static_cast<int>(workloads.size()) < count && !able.empty())
    remarks.push_back(fmt::format("only {} of {} hidden workloads: the ranges seldom keep the Definitions' constraints", workloads.size(), count));
  return workloads;
}

std::string describe_hidden(const Task& task, const Workload& workload) {
  std::string text = workload.definition;
  for (const Axis& axis : task.definition(workload.definition)->axes)
    if (const auto found = workload.axes.find(axis.name); found != workload.axes.end()) text += fmt::format(", {} {}", axis.name, found->second);
  for (const auto& [name, source] : workload.inputs)
    if (source.kind == InputSource::Kind::scalar) text += std::visit([&](auto value) { return fmt::format(", {} {}", name, value); }, source.scalar);
  for (const auto& [name, source] : workload.inputs) {
    if (source.kind != InputSource::Kind::random || source.recipe.kind != Recipe::Kind::lengths) continue;
    const auto& lengths = source.recipe.lengths;
    const auto shown = static_cast<std::ptrdiff_t>(std::min(lengths.size(), kShownLengths));
    text += fmt::format(", {} {}{}", name, fmt::join(lengths.begin(), lengths.begin() + shown, " "), lengths.size() > kShownLengths ? " ..." : "");
  }
  return text;
}

}  // namespace whet
