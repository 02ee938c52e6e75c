// SPDX-License-Identifier: Apache-2.0
#include "task/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace whet {
namespace {

using Row = std::vector<std::string>;

// Left-aligned columns, two spaces between them, the first row a heading.
std::string table(const std::vector<Row>& rows, int indent) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const Row& row : rows) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}  ", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string describe_definition(const Definition& definition) {
  std::string text = fmt::format("Definition {} ({})\n", definition.name, definition.op_type);
  if (!definition.description.empty()) text += "  " + definition.description + "\n";
  std::vector<Row> rows = {{"", "name", "dtype", "shape", ""}};
  for (const Axis& axis : definition.axes)
    rows.push_back(
        {"axis", axis.name, "", axis.value ? fmt::format("= {}", *axis.value) : "variable", axis.description});
  for (const TensorSpec& input : definition.inputs)
    rows.push_back({input.is_scalar() ? "scalar" : std::string(name_of(input.role)), input.name,
                    std::string(name_of(input.dtype)),
                    input.is_scalar() ? "" : fmt::format("[{}]", fmt::join(*input.shape, ", ")), input.description});
  for (const TensorSpec& output : definition.outputs)
    rows.push_back({"output", output.name, std::string(name_of(output.dtype)),
                    fmt::format("[{}]", fmt::join(*output.shape, ", ")), output.description});
  text += table(rows, 2);
  for (const std::string& constraint : definition.constraints) text += "  constraint: " + constraint + "\n";
  return text;
}

std::string flops_text(double flops) {
  if (flops <= 0) return "-";
  static constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  while (flops >= 1000 && unit + 1 < kUnits.size()) flops /= 1000, ++unit;
  return fmt::format("{:.3g} {}flop", flops, kUnits[unit]);
}

// One table per Definition, for its axes head the columns.
std::string describe_workloads(const Task& task, const Definition& definition) {
  Row heading = {"workload", "family"};
  for (const Axis& axis : definition.axes)
    if (!axis.value) heading.push_back(axis.name);
  for (const char* column : {"scalars", "tensors", "floor", "", "sets"}) heading.emplace_back(column);
  std::vector<Row> rows = {heading};
  for (const Workload& workload : task.workloads) {
    if (workload.definition != definition.name) continue;
    Row row = {workload.name, workload.family};
    for (const Axis& axis : definition.axes)
      if (!axis.value) row.push_back(fmt::format("{}", workload.axes.at(axis.name)));
    row.push_back(scalars_text(definition, workload));
    row.push_back(bytes_text(static_cast<double>(tensor_bytes(definition, workload))));
    row.push_back(flops_text(workload.floor_flops));
    row.push_back(workload.floor_bytes > 0 ? bytes_text(workload.floor_bytes) : "-");
    row.push_back(fmt::format("{}", fmt::join(workload.sets, ", ")));
    rows.push_back(std::move(row));
  }
  return fmt::format("Workloads of {}: {}\n", definition.name, rows.size() - 1) + table(rows, 2);
}

std::string describe_solutions(const Task& task) {
  std::vector<Row> rows = {{"solution", "role", "language", "dependencies", ""}};
  const auto add = [&](const std::string& name, const char* role) {
    auto found = task.solutions.find(name);
    if (found == task.solutions.end()) return;
    const Solution& solution = found->second;
    rows.push_back({name, role, solution.language,
                    solution.dependencies.empty() ? "-" : fmt::format("{}", fmt::join(solution.dependencies, ", ")),
                    solution.description});
  };
  add(task.reference, "reference");
  for (const std::string& name : task.baselines) add(name, "baseline");
  add(task.start, "start");
  return "Solutions\n" + table(rows, 2);
}

std::string describe_ranges(const Task& task) {
  if (task.ranges.empty()) return "";
  std::string text = "Ranges of hidden workloads\n";
  std::vector<Row> rows = {{"axis, scalar or lengths", "values"}};
  for (const auto& [name, range] : task.ranges) {
    if (!range.follows.empty()) {
      rows.push_back({name, range.follows});
      continue;
    }
    std::string step = range.step == 0 || range.step == 1 ? "" : fmt::format(" in steps of {}", range.step);
    rows.push_back({name, range.values.empty() ? fmt::format("{} to {}{}{}{}", range.min, range.most.empty() ? fmt::format("{}", range.max) : range.most, step,
                                                                     range.total.empty() ? "" : ", running sums up to " + range.total,
                                                                     range.longest.empty() ? "" : ", the longest is " + range.longest)
                                               : fmt::format("{}", fmt::join(range.values, ", "))});
  }
  return text + table(rows, 2);
}

}  // namespace

std::string bytes_text(double bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < kUnits.size()) bytes /= 1024, ++unit;
  return bytes >= 100 || unit == 0 ? fmt::format("{:.0f} {}", bytes, kUnits[unit])
                                   : fmt::format("{:.3g} {}", bytes, kUnits[unit]);
}

int64_t tensor_bytes(const Definition& definition, const Workload& workload) {
  int64_t total = 0;
  for (const auto* list : {&definition.inputs, &definition.outputs})
    for (const TensorSpec& tensor : *list)
      if (!tensor.is_scalar())
        total += element_count(shape_of(definition, tensor, workload.axes)) * size_of(tensor.dtype);
  return total;
}

std::string axes_text(const Definition& definition, const Workload& workload) {
  std::vector<std::string> parts;
  for (const Axis& axis : definition.axes)
    if (auto value = workload.axes.find(axis.name); value != workload.axes.end())
      parts.push_back(fmt::format("{} {}", axis.name, value->second));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string scalars_text(const Definition& definition, const Workload& workload) {
  std::vector<std::string> parts;
  for (const TensorSpec& input : definition.inputs) {
    auto source = workload.inputs.find(input.name);
    if (!input.is_scalar() || source == workload.inputs.end()) continue;
    const auto& value = source->second.scalar;
    std::string text = std::holds_alternative<bool>(value)     ? (std::get<bool>(value) ? "true" : "false")
                       : std::holds_alternative<double>(value) ? fmt::format("{:.4g}", std::get<double>(value))
                                                               : fmt::format("{}", std::get<int64_t>(value));
    parts.push_back(input.name + " " + text);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string goal_text(const Goal& goal) { return fmt::format("{} >= {}", goal.metric, goal.value); }

std::string describe_task(const Task& task) {
  std::string text = fmt::format("{}: {}\ntarget {}; goal {} (the lower end of its 95 % interval)\n\n", task.name,
                                 task.title, task.target, goal_text(task.goal));
  for (const Definition& definition : task.definitions)
    text += describe_definition(definition) + "\n" + describe_workloads(task, definition) + "\n";
  std::vector<Row> sets = {{"set", "workloads", ""}};
  for (const auto& [name, description] : task.sets)
    sets.push_back({name, fmt::format("{}", task.set(name).size()), description});
  text += "Sets\n" + table(sets, 2) + "\n" + describe_solutions(task);
  if (!task.ranges.empty()) text += "\n" + describe_ranges(task);
  if (!task.rules.empty()) text += "\nRules\n";
  for (const std::string& rule : task.rules) text += "  - " + rule + "\n";
  text += fmt::format("\nEditable: {}\n", fmt::join(task.editable, ", "));
  if (!task.tolerance_policy.empty()) text += "Tolerance: " + task.tolerance_policy + "\n";
  return text;
}

}  // namespace whet
