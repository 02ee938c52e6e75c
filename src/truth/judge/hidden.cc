// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/hidden.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "record/constraint.h"
#include "truth/measure/draw.h"

namespace whet {
namespace {

constexpr int kTries = 200;                            // draws against a Definition's constraints
constexpr int64_t kMostBytes = int64_t{512} << 20;     // of all tensors of a hidden workload
constexpr double kTwoTo32 = 4294967296.0;

double drawn(const Range& range, uint32_t bits) {
  const double part = bits / kTwoTo32;  // [0, 1)
  if (!range.values.empty()) return range.values[static_cast<size_t>(part * static_cast<double>(range.values.size()))];
  if (range.step <= 0) return range.min + (range.max - range.min) * part;
  const double steps = std::floor((range.max - range.min) / range.step) + 1;
  return range.min + range.step * std::floor(part * steps);
}

// Whether any extents of its axes give a sound call: recipes that state lengths, sums of them or pages hang on the axes that they were written for.
bool stretches(const Workload& workload) {
  return std::all_of(workload.inputs.begin(), workload.inputs.end(), [](const auto& input) {
    using Kind = Recipe::Kind;
    const Kind kind = input.second.recipe.kind;
    if (input.second.kind == InputSource::Kind::scalar) return true;
    return input.second.kind == InputSource::Kind::random && kind != Kind::lengths && kind != Kind::cumsum_of && kind != Kind::page_permutation;
  });
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

bool keeps_constraints(const Definition& definition, const Workload& workload) {
  std::map<std::string, int64_t> axes;
  const auto values = axis_values(definition, workload.axes);
  for (size_t i = 0; i < values.size(); ++i) axes[definition.axes[i].name] = values[i];
  return std::none_of(definition.constraints.begin(), definition.constraints.end(), [&](const std::string& text) {
    const ConstraintResult::Kind kind = evaluate_constraint(text, axes).kind;
    return kind == ConstraintResult::Kind::violated || kind == ConstraintResult::Kind::no_value;
  });
}

class Draws {
 public:
  Draws(const Task& task, const std::string& secret) : task_(task), secret_(secret) {}

  std::optional<Workload> one(const Definition& definition, const std::vector<const Workload*>& templates, int number) {
    for (int attempt = 0; attempt < kTries; ++attempt) {
      const auto dice = [&](const std::string& what) { return derive_key(secret_, "hidden", number * kTries + attempt, what).words[0]; };
      Workload workload = *templates[dice("template") % templates.size()];
      workload.name = workload.uuid = fmt::format("hidden-{}", number + 1);
      workload.family = "hidden";
      workload.sets.clear();
      workload.floor_bytes = workload.floor_flops = 0;
      for (auto& [name, value] : workload.axes)
        if (const Range* range = range_of(name)) value = std::llround(drawn(*range, dice(name)));
      for (auto& [name, source] : workload.inputs)
        if (const Range* range = source.kind == InputSource::Kind::scalar ? range_of(name) : nullptr) set_scalar(source, drawn(*range, dice(name)));
      workload.tolerance = tolerance_of(definition, workload.tolerance);
      if (keeps_constraints(definition, workload) && bytes_of(definition, workload) <= kMostBytes) return workload;
    }
    return std::nullopt;
  }

 private:
  const Range* range_of(const std::string& name) const {
    const auto found = task_.ranges.find(name);
    return found == task_.ranges.end() ? nullptr : &found->second;
  }

  // The type that the workload gave it stays.
  static void set_scalar(InputSource& source, double value) {
    if (std::holds_alternative<bool>(source.scalar)) source.scalar = value != 0;
    else if (std::holds_alternative<double>(source.scalar)) source.scalar = value;
    else source.scalar = static_cast<int64_t>(std::llround(value));
  }

  // A workload's own was calibrated on its own shape.
  Tolerance tolerance_of(const Definition& definition, const Tolerance& own) const {
    std::optional<Tolerance> loosest;
    for (const TensorSpec& output : definition.outputs)
      if (const auto found = task_.tolerance.find(output.dtype); found != task_.tolerance.end() && (!loosest || found->second.rtol > loosest->rtol)) loosest = found->second;
    return loosest.value_or(own);
  }

  const Task& task_;
  const std::string& secret_;
};

}  // namespace

std::vector<Workload> hidden_workloads(const Task& task, const std::string& secret, int count, std::vector<std::string>& remarks) {
  std::vector<Workload> workloads;
  if (task.ranges.empty() || count <= 0) return workloads;
  std::vector<std::pair<const Definition*, std::vector<const Workload*>>> able;
  for (const Definition& definition : task.definitions) {
    std::vector<const Workload*> templates;
    for (const Workload& workload : task.workloads)
      if (workload.definition == definition.name && stretches(workload)) templates.push_back(&workload);
    if (templates.empty()) remarks.push_back(fmt::format("no hidden workloads of {}: its inputs cannot be drawn from ranges", definition.name));
    else able.emplace_back(&definition, std::move(templates));
  }
  Draws draws(task, secret);
  for (int i = 0; i < count && !able.empty(); ++i) {
    const auto& [definition, templates] = able[static_cast<size_t>(i) % able.size()];
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
  return text;
}

}  // namespace whet
