// SPDX-License-Identifier: Apache-2.0
#include "record/recipe.h"

#include <algorithm>
#include <array>

#include "base/json_impl.h"
#include "record/keys.h"

namespace whet {
namespace {

using Kind = Recipe::Kind;

struct Row {
  Kind kind;
  std::string_view name;
  std::vector<std::string> keys;  // besides `kind`
};
const std::array<Row, 8>& rows() {
  static const std::array<Row, 8> kRows = {{{Kind::normal, "normal", {"scale"}},
                                            {Kind::uniform, "uniform", {"low", "high"}},
                                            {Kind::constant, "constant", {"value"}},
                                            {Kind::lengths, "lengths", {"lengths"}},
                                            {Kind::cumsum_of, "cumsum_of", {"of"}},
                                            {Kind::page_permutation, "page_permutation", {}},
                                            {Kind::index_below, "index_below", {"of"}},
                                            {Kind::planted, "planted", {"scale", "peaks"}}}};
  return kRows;
}

std::vector<std::string> kind_names() {
  std::vector<std::string> names;
  for (const Row& row : rows()) names.emplace_back(row.name);
  return names;
}

// The largest integer of a dtype; 1 for bool.
int64_t greatest(Dtype dtype) {
  if (dtype == Dtype::boolean) return 1;
  return size_of(dtype) == 8 ? INT64_MAX : (int64_t{1} << (8 * size_of(dtype) - 1)) - 1;
}
int64_t least(Dtype dtype) { return dtype == Dtype::boolean ? 0 : -greatest(dtype) - 1; }

bool is_integer_of(double value, Dtype dtype) {
  return std::floor(value) == value && value >= static_cast<double>(least(dtype)) &&
         value <= static_cast<double>(greatest(dtype)) && value < 9.2e18;
}

std::vector<int64_t> read_lengths(JsonReader& in) {
  std::vector<int64_t> lengths;
  for (const Json& item : in.array("lengths")) {
    if (item.is_number_integer() && item.get<int64_t>() >= 0) {
      lengths.push_back(item.get<int64_t>());
    } else {
      in.complain("lengths", "expected integers >= 0, found " + brief(item));
      return {};
    }
  }
  return lengths;
}

std::string lengths_misfit(const Recipe& recipe, const TensorSpec& input, int64_t count) {
  if (input.shape->size() != 1)
    return fmt::format("lengths need an input with one axis; this one has {}", input.shape->size());
  if (static_cast<int64_t>(recipe.lengths.size()) != count)
    return fmt::format("expected {} lengths, found {}", count, recipe.lengths.size());
  for (int64_t length : recipe.lengths)
    if (length > greatest(input.dtype))
      return fmt::format("the length {} does not fit into {}", length, name_of(input.dtype));
  return "";
}

std::string cumsum_misfit(const Recipe& recipe, const TensorSpec& input, const Definition& definition,
                          const Workload& workload, int64_t count) {
  const TensorSpec* of = definition.input(recipe.of);
  if (!of) {
    std::vector<std::string> names;
    for (const TensorSpec& other : definition.inputs) names.push_back(other.name);
    return "there is no input \"" + recipe.of + "\"" + suggestion(recipe.of, names);
  }
  if (of->is_scalar() || is_float(of->dtype) || of->shape->size() != 1 || input.shape->size() != 1)
    return "both \"" + input.name + "\" and \"" + recipe.of + "\" must be integer tensors with one axis";
  auto source = workload.inputs.find(recipe.of);
  if (source == workload.inputs.end() || source->second.kind != InputSource::Kind::random)
    return "\"" + recipe.of + "\" has no recipe";
  if (source->second.recipe.kind == Kind::cumsum_of) return "\"" + recipe.of + "\" is itself a cumulative sum";
  const int64_t summed = element_count(shape_of(definition, *of, workload.axes));
  if (count != summed + 1)
    return fmt::format("expected {} elements, one more than \"{}\", found {}", summed + 1, recipe.of, count);
  int64_t total = 0;
  for (int64_t length : source->second.recipe.lengths)
    if (__builtin_add_overflow(total, length, &total) || total > greatest(input.dtype))
      return fmt::format("the sum of \"{}\" does not fit into {}", recipe.of, name_of(input.dtype));
  return "";
}

std::string index_misfit(const Recipe& recipe, const TensorSpec& input, const Definition& definition,
                         const Workload& workload) {
  const Axis* axis = definition.axis(recipe.of);
  if (!axis) {
    std::vector<std::string> names;
    for (const Axis& other : definition.axes) names.push_back(other.name);
    return "there is no axis \"" + recipe.of + "\"" + suggestion(recipe.of, names);
  }
  auto given = workload.axes.find(axis->name);
  const int64_t bound = axis->value.value_or(given == workload.axes.end() ? 0 : given->second);
  if (bound < 1) return "the axis \"" + recipe.of + "\" is 0, so there is no index below it";
  if (bound - 1 > greatest(input.dtype))
    return fmt::format("indices below {} do not fit into {}", bound, name_of(input.dtype));
  return "";
}

}  // namespace

std::string_view name_of(Recipe::Kind kind) { return rows()[static_cast<std::size_t>(kind)].name; }

Recipe recipe_from_json(const Json& json, const std::string& file, const std::string& path,
                        std::vector<std::string>& complaints) {
  Recipe recipe;
  JsonReader in(json, file, path, complaints);
  if (!json.is_object()) return recipe;
  const std::string kind = in.string("kind");
  auto row = std::find_if(rows().begin(), rows().end(), [&](const Row& candidate) { return candidate.name == kind; });
  if (row == rows().end()) {
    if (!kind.empty()) in.complain("kind", "unknown recipe \"" + kind + "\"" + suggestion(kind, kind_names()));
    return recipe;
  }
  recipe.kind = row->kind;
  std::vector<std::string> known = row->keys;
  known.insert(known.begin(), "kind");
  complain_about_unknown_keys(json, known, in);
  switch (recipe.kind) {
    case Kind::normal:
      recipe.scale = in.number_or("scale", 1);
      break;
    case Kind::uniform:
      recipe.low = in.number_or("low", 0);
      recipe.high = in.number_or("high", 1);
      if (!(recipe.low < recipe.high))
        in.complain("high", fmt::format("expected a number > low = {}, found {}", recipe.low, recipe.high));
      break;
    case Kind::constant:
      recipe.value = in.number("value");
      break;
    case Kind::lengths:
      recipe.lengths = read_lengths(in);
      break;
    case Kind::cumsum_of:
    case Kind::index_below:
      recipe.of = in.string("of");
      break;
    case Kind::page_permutation:
      break;
    case Kind::planted:
      recipe.scale = in.number_or("scale", 1);
      recipe.peaks = in.integer("peaks", 1);
      break;
  }
  if (recipe.scale < 0) in.complain("scale", fmt::format("expected a number >= 0, found {}", recipe.scale));
  return recipe;
}

Json to_json(const Recipe& recipe) {
  Json json;
  json["kind"] = name_of(recipe.kind);
  switch (recipe.kind) {
    case Kind::normal:
      json["scale"] = recipe.scale;
      break;
    case Kind::uniform:
      json["low"] = recipe.low;
      json["high"] = recipe.high;
      break;
    case Kind::constant:
      json["value"] = recipe.value;
      break;
    case Kind::lengths:
      json["lengths"] = recipe.lengths;
      break;
    case Kind::cumsum_of:
    case Kind::index_below:
      json["of"] = recipe.of;
      break;
    case Kind::page_permutation:
      break;
    case Kind::planted:
      json["scale"] = recipe.scale;
      json["peaks"] = recipe.peaks;
      break;
  }
  return json;
}

std::string recipe_misfit(const Recipe& recipe, const TensorSpec& input, const Definition& definition,
                          const Workload& workload) {
  const std::vector<int64_t> shape = shape_of(definition, input, workload.axes);
  const int64_t count = element_count(shape);
  const bool floating = is_float(input.dtype);
  const auto needs = [&](const char* what) {
    return fmt::format("{} needs {} input; this one is {}", name_of(recipe.kind), what, name_of(input.dtype));
  };
  switch (recipe.kind) {
    case Kind::normal:
    case Kind::planted:
      if (!floating) return needs("a floating-point");
      if (recipe.kind == Kind::normal) return "";
      if (shape.empty()) return "planted needs an input with at least one axis";
      return recipe.peaks <= shape.back()
                 ? ""
                 : fmt::format("{} peaks do not fit into rows of {}", recipe.peaks, shape.back());
    case Kind::uniform:
      if (floating || (is_integer_of(recipe.low, input.dtype) && is_integer_of(recipe.high, input.dtype))) return "";
      return fmt::format("[{}, {}] must be bounded by integers of {}", recipe.low, recipe.high, name_of(input.dtype));
    case Kind::constant:
      if (floating || is_integer_of(recipe.value, input.dtype)) return "";
      return fmt::format("{} is no value of {}", recipe.value, name_of(input.dtype));
    case Kind::lengths:
    case Kind::cumsum_of:
    case Kind::page_permutation:
    case Kind::index_below:
      break;
  }
  if (floating || input.dtype == Dtype::boolean) return needs("an integer");
  if (recipe.kind == Kind::lengths) return lengths_misfit(recipe, input, count);
  if (recipe.kind == Kind::cumsum_of) return cumsum_misfit(recipe, input, definition, workload, count);
  if (recipe.kind == Kind::index_below) return index_misfit(recipe, input, definition, workload);
  return count - 1 <= greatest(input.dtype)
             ? ""
             : fmt::format("a permutation of {} does not fit into {}", count, name_of(input.dtype));
}

}  // namespace whet
