// SPDX-License-Identifier: Apache-2.0
#include "task/brief.h"

#include <fmt/format.h>

#include "task/describe.h"
#include "task/typed_header.h"

namespace whet {
namespace {

std::string workload_line(const Definition& definition, const Workload& workload) {
  const Tolerance& tolerance = workload.tolerance;
  const std::string scalars = scalars_text(definition, workload);
  std::string line = fmt::format("{} ({}, family {}): {}", workload.name, workload.definition, workload.family,
                                 axes_text(definition, workload));
  if (!scalars.empty()) line += "; " + scalars;
  line += fmt::format("; sets {}; rtol {}, atol {}", fmt::join(workload.sets, ", "), tolerance.rtol, tolerance.atol);
  if (tolerance.norm >= 0) line += fmt::format(", norm {}", tolerance.norm);
  return line;
}

std::string list(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += "- " + item + "\n";
  return text;
}

std::string definition_text(const Definition& definition) {
  std::string text = fmt::format("### {}\n{}\n\n", definition.name, definition.description);
  for (const Axis& axis : definition.axes)
    text += fmt::format("- axis {}{}{}\n", axis.name, axis.value ? fmt::format(" = {}", *axis.value) : "",
                        axis.description.empty() ? "" : ": " + axis.description);
  for (const auto* tensors : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      const std::string kind = tensors == &definition.outputs ? "output"
                               : tensor.is_scalar()           ? "scalar"
                                                              : "input (" + std::string(name_of(tensor.role)) + ")";
      const std::string shape = tensor.is_scalar() ? "" : fmt::format(" [{}]", fmt::join(*tensor.shape, ", "));
      text += fmt::format("- {} {}: {}{}{}\n", kind, tensor.name, name_of(tensor.dtype), shape,
                          tensor.description.empty() ? "" : ", " + tensor.description);
    }
  }
  for (const std::string& constraint : definition.constraints) text += "- constraint: " + constraint + "\n";
  return text + "\n```python\n" + definition.reference + (definition.reference.ends_with("\n") ? "" : "\n") + "```\n\n";
}

}  // namespace

Brief cut_brief(const Task& task) {
  Brief brief{task.name, task.title, task.target, "", task.rules, task.definitions, {}, {}, task.editable, {}, {}};
  brief.goal = goal_text(task.goal) +
               ": the geometric mean over the workloads of baseline time / your time; the lower end of its 95 % "
               "interval counts.";
  for (const Workload& workload : task.workloads) {
    const Definition* definition = task.definition(workload.definition);
    if (definition && !workload.sets.empty()) brief.workloads.push_back(workload_line(*definition, workload));
  }
  for (const std::string& name : task.baselines)
    if (auto found = task.solutions.find(name); found != task.solutions.end())
      brief.baselines.push_back(name + ": " + found->second.description);
  if (auto start = task.solutions.find(task.start); start != task.solutions.end()) brief.start = start->second.sources;
  for (const Definition& definition : task.definitions)
    brief.headers[definition.name + ".h"] = typed_header(definition);
  return brief;
}

std::string Brief::text() const {
  std::string out =
      fmt::format("# {}: {}\n\nTarget: {}.\nGoal: {}\n\n## What is computed\n\n", task, title, target, goal);
  for (const Definition& definition : definitions) out += definition_text(definition);
  out += "## Rules\n\n" + list(rules) + "\n## Workloads\n\n" + list(workloads) +
         "\nOthers, drawn within the declared ranges, are judged too.\n";
  out += "\n## Baselines\n\n" + list(baselines) + "\n## Files that you may change\n\n" + list(editable);
  std::vector<std::string> files;
  for (const auto& [path, contents] : start) files.push_back(fmt::format("{} ({} bytes)", path, contents.size()));
  return out + "\nThe start Solution has:\n\n" + list(files);
}

}  // namespace whet
