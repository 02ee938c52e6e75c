// SPDX-License-Identifier: Apache-2.0
#include "truth/guard/mutant.h"

#include <algorithm>

namespace whet {
namespace {

bool is_drawn(const Workload& workload, const std::string& input) {
  const auto source = workload.inputs.find(input);
  const Recipe::Kind kind = source == workload.inputs.end() ? Recipe::Kind::normal : source->second.recipe.kind;
  return kind == Recipe::Kind::normal || kind == Recipe::Kind::uniform || kind == Recipe::Kind::planted;
}

std::vector<std::pair<size_t, size_t>> places_in_outputs(const Definition& definition, const std::string& axis) {
  std::vector<std::pair<size_t, size_t>> places;
  for (size_t output = 0; output < definition.outputs.size(); ++output) {
    const auto& axes = *definition.outputs[output].shape;
    for (size_t dimension = 0; dimension < axes.size(); ++dimension)
      if (axes[dimension] == axis) places.emplace_back(output, dimension);
  }
  return places;
}

}  // namespace

std::vector<AlteredInput> altered_inputs(const Definition& definition, const Workload& workload) {
  std::vector<AlteredInput> altered;
  std::vector<size_t> floats;
  size_t index = 0;
  for (const TensorSpec& input : definition.inputs) {
    if (input.is_scalar()) continue;
    const size_t tensor = index++;
    if (is_float(input.dtype)) floats.push_back(tensor);
    if (!is_drawn(workload, input.name)) continue;  // lengths, page tables: another draw of them is the same or another problem
    altered.push_back({"ignores " + input.name, {tensor}, AlteredInput::How::redraw, 0, "", "ignores " + input.name, {}});
    const auto shape = shape_of(definition, input, workload.axes);
    for (size_t dimension = 0; dimension < shape.size(); ++dimension) {
      const std::string& axis = (*input.shape)[dimension];
      if (shape[dimension] > 1)
        altered.push_back({"ignores the tail of " + input.name + " along " + axis, {tensor}, AlteredInput::How::zero_tail, dimension, "", "", places_in_outputs(definition, axis)});
    }
  }
  if (!floats.empty()) altered.push_back({"lower precision", floats, AlteredInput::How::round, 0, "", "", {}});
  for (const TensorSpec& input : definition.inputs)
    if (input.is_scalar()) altered.push_back({"ignores " + input.name, {}, AlteredInput::How::change_scalar, 0, input.name, "ignores " + input.name, {}});
  return altered;
}

InputSource changed_scalar(const InputSource& source) {
  InputSource changed = source;
  if (const bool* flag = std::get_if<bool>(&source.scalar)) changed.scalar = !*flag;
  if (const double* number = std::get_if<double>(&source.scalar)) changed.scalar = *number == 0 ? 1.0 : *number * 1.25;
  if (const int64_t* integer = std::get_if<int64_t>(&source.scalar)) changed.scalar = *integer == 0 ? int64_t{1} : *integer / 2;
  return changed;
}

std::vector<OutputTail> output_tails(const Definition& definition, const Workload& workload) {
  std::vector<OutputTail> tails;
  const auto extents = axis_values(definition, workload.axes);
  for (size_t i = 0; i < extents.size(); ++i) {
    auto places = places_in_outputs(definition, definition.axes[i].name);
    if (extents[i] > 1 && !places.empty()) tails.push_back({"skips the tail along " + definition.axes[i].name, std::move(places)});
  }
  return tails;
}

}  // namespace whet
