// SPDX-License-Identifier: Apache-2.0
#include "record/workload.h"

#include <algorithm>

#include "base/file.h"
#include "base/json_impl.h"
#include "record/constraint.h"
#include "record/keys.h"
#include "record/recipe.h"

namespace whet {
namespace {

std::vector<std::string> names_of_axes(const Definition& definition) {
  std::vector<std::string> names;
  for (const Axis& axis : definition.axes) names.push_back(axis.name);
  return names;
}

std::vector<std::string> names_of_inputs(const Definition& definition) {
  std::vector<std::string> names;
  for (const TensorSpec& input : definition.inputs) names.push_back(input.name);
  return names;
}

void read_axes(const Definition& definition, Workload& workload, JsonReader& in) {
  if (!in.find("axes")) {
    in.complain("axes", "missing; expected an object");
    return;
  }
  const Json& json = in.object("axes");
  JsonReader axes(json, in.file(), "workload.axes", in.complaints());
  for (const auto& [name, value] : json.items()) {
    const Axis* axis = definition.axis(name);
    if (!axis) axes.complain(name, "the Definition has no such axis" + suggestion(name, names_of_axes(definition)));
    else if (axis->value && (!value.is_number_integer() || value.get<int64_t>() != *axis->value))
      axes.complain(name, fmt::format("the Definition fixes this axis to {}, found {}", *axis->value, brief(value)));
  }
  for (const Axis& axis : definition.axes)
    if (!axis.value) workload.axes[axis.name] = axes.integer(axis.name.c_str(), 0);
}

// The bytes of all tensors; complains and returns false when they are beyond the bound. Zero extents count as one, so that no later product of
// extents can overflow in whatever order it is taken.
bool check_size(const Definition& definition, const Workload& workload, JsonReader& in) {
  int64_t total = 0;
  for (const auto* list : {&definition.inputs, &definition.outputs}) {
    for (const TensorSpec& tensor : *list) {
      int64_t bytes = size_of(tensor.dtype);
      bool over = false;
      for (int64_t extent : shape_of(definition, tensor, workload.axes))
        over = over || __builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes) || bytes > kMaxWorkloadBytes;
      over = over || __builtin_add_overflow(total, bytes, &total) || total > kMaxWorkloadBytes;
      if (!over) continue;
      in.complain("axes", fmt::format("with \"{}\" the tensors take more than {} GiB; make the axes smaller",
                                      tensor.name, kMaxWorkloadBytes >> 30));
      return false;
    }
  }
  return true;
}

void check_constraints(const Definition& definition, const Workload& workload, JsonReader& in) {
  using Kind = ConstraintResult::Kind;
  std::map<std::string, int64_t> axes = workload.axes;
  for (const Axis& axis : definition.axes)
    if (axis.value) axes[axis.name] = *axis.value;
  for (const std::string& constraint : definition.constraints) {
    const ConstraintResult result = evaluate_constraint(constraint, axes);
    if (result.kind == Kind::violated) in.complain("axes", "the constraint \"" + constraint + "\" does not hold");
    if (result.kind == Kind::no_value)
      in.complain("axes", "the constraint \"" + constraint + "\" has no value: " + result.why);
  }
}

double greatest_float(Dtype dtype) {
  return dtype == Dtype::float64   ? std::numeric_limits<double>::max()
         : dtype == Dtype::float16 ? 65504.0
                                   : 3.4028234663852886e38;
}

// The token decides the type, and it must be the dtype's: an integer may stand for a float, nothing else.
void read_scalar(const TensorSpec& spec, InputSource& source, JsonReader& in) {
  source.kind = InputSource::Kind::scalar;
  const Json* value = in.find("value");
  if (!value) {
    in.complain("value", fmt::format("missing; expected a {}", name_of(spec.dtype)));
    return;
  }
  if (spec.dtype == Dtype::boolean) {
    if (value->is_boolean()) source.scalar = value->get<bool>();
    else in.complain("value", "expected true or false (the dtype is bool), found " + brief(*value));
  } else if (is_float(spec.dtype)) {
    const bool fits = value->is_number() && std::abs(value->get<double>()) <= greatest_float(spec.dtype);
    if (fits) source.scalar = value->get<double>();
    else
      in.complain("value",
                  fmt::format("expected a number that fits into {}, found {}", name_of(spec.dtype), brief(*value)));
  } else {
    const int bits = static_cast<int>(8 * size_of(spec.dtype));
    const int64_t high = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
    if (value->is_number_integer() && value->get<int64_t>() <= high && value->get<int64_t>() >= -high - 1)
      source.scalar = value->get<int64_t>();
    else
      in.complain("value",
                  fmt::format("expected an integer that fits into {}, found {}", name_of(spec.dtype), brief(*value)));
  }
}

void read_safetensors(InputSource& source, JsonReader& in) {
  source.kind = InputSource::Kind::safetensors;
  source.path = in.string("path");
  source.tensor_key = in.string("tensor_key");
  if (!source.path.empty() && !is_plain_relative_path(source.path))
    in.complain("path", "expected a path below the task's folder, relative and without \"..\", found " +
                            brief(Json(source.path)));
}

void read_input(const TensorSpec& spec, const Json* json, Workload& workload, const std::string& path,
                JsonReader& outer) {
  InputSource source;
  const Json empty = Json::object();
  JsonReader in(json ? *json : empty, outer.file(), path, outer.complaints());
  const std::string type = json && json->is_object() ? in.string("type") : "random";
  if (type == "scalar") {
    if (spec.is_scalar()) read_scalar(spec, source, in);
    else
      in.complain(
          "type",
          "\"" + spec.name +
              "\" is a tensor (its shape is not null); expected \"random\" or \"safetensors\", found \"scalar\"");
  } else if (type == "safetensors") {
    if (!spec.is_scalar()) read_safetensors(source, in);
    else
      in.complain("type",
                  "\"" + spec.name + "\" is a scalar (its shape is null); expected \"scalar\", found \"safetensors\"");
  } else if (type == "random") {
    if (spec.is_scalar())
      outer.complain("inputs." + spec.name,
                     "a scalar is not drawn; give it a value: {\"type\": \"scalar\", \"value\": ...}");
  } else if (!type.empty()) {
    static const std::vector<std::string> kTypes = {"random", "scalar", "safetensors"};
    in.complain("type", "unknown type \"" + type + "\"" + suggestion(type, kTypes));
  }
  workload.inputs[spec.name] = std::move(source);
}

void read_inputs(const Definition& definition, Workload& workload, JsonReader& in) {
  const Json empty = Json::object();
  const Json& inputs = in.find("inputs") ? in.object("inputs") : empty;
  for (const auto& [name, json] : inputs.items())
    if (!definition.input(name))
      in.complain("inputs." + name, "the Definition has no such input" + suggestion(name, names_of_inputs(definition)));
  for (const TensorSpec& spec : definition.inputs) {
    auto json = inputs.find(spec.name);
    read_input(spec, json == inputs.end() ? nullptr : &*json, workload, "workload.inputs." + spec.name, in);
  }
}

void read_recipes(const Definition& definition, Workload& workload, JsonReader& ours) {
  if (!ours.has("recipes")) return;
  for (const auto& [name, json] : ours.object("recipes").items()) {
    const Recipe recipe = recipe_from_json(json, ours.file(), "workload.whet.recipes." + name, ours.complaints());
    auto source = workload.inputs.find(name);
    if (source == workload.inputs.end())
      ours.complain("recipes." + name,
                    "the Definition has no such input" + suggestion(name, names_of_inputs(definition)));
    else if (source->second.kind != InputSource::Kind::random || definition.input(name)->is_scalar())
      ours.complain("recipes." + name, "only an input of type \"random\" has a recipe");
    else source->second.recipe = recipe;
  }
}

// Floats without a recipe are drawn from N(0, 1), FlashInfer's rule; its rule for integers gives no valid indices or lengths.
void check_recipes(const Definition& definition, const Workload& workload, const Json* recipes, JsonReader& in) {
  for (const TensorSpec& spec : definition.inputs) {
    auto found = workload.inputs.find(spec.name);
    if (found == workload.inputs.end() || found->second.kind != InputSource::Kind::random || spec.is_scalar()) continue;
    const bool has_recipe = recipes && recipes->is_object() && recipes->contains(spec.name);
    if (!has_recipe && !is_float(spec.dtype)) {
      in.complain(
          "inputs." + spec.name,
          fmt::format(
              "a random {} input needs a recipe under workload.whet.recipes.{} (lengths, cumsum_of, page_permutation, "
              "index_below, uniform or constant), or type \"safetensors\"",
              name_of(spec.dtype), spec.name));
      continue;
    }
    if (std::string misfit = recipe_misfit(found->second.recipe, spec, definition, workload);
        has_recipe && !misfit.empty())
      in.complain("whet.recipes." + spec.name, misfit);
  }
}

Tolerance default_tolerance(const Definition& definition, const std::map<Dtype, Tolerance>& defaults) {
  std::optional<Tolerance> loosest;
  for (const TensorSpec& output : definition.outputs) {
    auto found = defaults.find(output.dtype);
    if (found == defaults.end()) continue;
    const Tolerance& next = found->second;
    if (!loosest) loosest = next;
    loosest->rtol = std::max(loosest->rtol, next.rtol);
    loosest->atol = std::max(loosest->atol, next.atol);
    loosest->norm = loosest->norm < 0 || next.norm < 0 ? -1 : std::max(loosest->norm, next.norm);
  }
  return loosest.value_or(Tolerance{});
}

double not_negative(JsonReader& in, const char* key, double fallback) {
  const double value = in.number_or(key, fallback);
  if (value < 0) in.complain(key, fmt::format("expected a number >= 0, found {}", value));
  return value;
}

void read_tolerance(const Json& json, Tolerance& tolerance, JsonReader& ours) {
  static const std::vector<std::string> kKeys = {"rtol", "atol", "norm"};
  JsonReader in(json, ours.file(), "workload.whet.tolerance", ours.complaints());
  complain_about_unknown_keys(json, kKeys, in);
  tolerance.rtol = not_negative(in, "rtol", tolerance.rtol);
  tolerance.atol = not_negative(in, "atol", tolerance.atol);
  tolerance.norm = std::max(in.number_or("norm", tolerance.norm), -1.0);
  if (tolerance.norm < 0) tolerance.norm = -1;
}

void read_ours(const Json& json, const Definition& definition, Workload& workload, JsonReader& in) {
  static const std::vector<std::string> kKeys = {"name", "family", "sets", "tolerance", "recipes", "floor"};
  static const std::vector<std::string> kFloorKeys = {"flops", "bytes"};
  JsonReader ours(json, in.file(), "workload.whet", in.complaints());
  complain_about_unknown_keys(json, kKeys, ours);
  workload.name = ours.string_or("name", workload.name);
  workload.family = ours.string_or("family", workload.family);
  for (const auto& [key, name] : {std::pair{"name", workload.name}, std::pair{"family", workload.family}})
    if (ours.has(key) && !is_plain_name(name))
      ours.complain(key, "expected letters, digits and . _ + = - only, found " + brief(Json(name)));
  if (ours.has("sets")) {
    workload.sets = ours.strings_or_empty("sets");
    if (workload.sets.empty()) ours.complain("sets", "expected at least one set");
  }
  if (const Json* tolerance = ours.find("tolerance")) read_tolerance(*tolerance, workload.tolerance, ours);
  if (const Json* floor = ours.find("floor")) {
    JsonReader physical(*floor, in.file(), "workload.whet.floor", in.complaints());
    complain_about_unknown_keys(*floor, kFloorKeys, physical);
    workload.floor_flops = not_negative(physical, "flops", 0);
    workload.floor_bytes = not_negative(physical, "bytes", 0);
  }
  read_recipes(definition, workload, ours);
}

Json to_json(const InputSource& source) {
  Json json;
  switch (source.kind) {
    case InputSource::Kind::random:
      json["type"] = "random";
      break;
    case InputSource::Kind::scalar:
      json["type"] = "scalar";
      std::visit([&](auto value) { json["value"] = value; }, source.scalar);
      break;
    case InputSource::Kind::safetensors:
      json["type"] = "safetensors";
      json["path"] = source.path;
      json["tensor_key"] = source.tensor_key;
      break;
  }
  return json;
}

}  // namespace

Workload workload_from_json(const Json& line, const Definition& definition, const std::string& file,
                            std::vector<std::string>& complaints, const std::map<Dtype, Tolerance>& defaults) {
  Workload workload;
  JsonReader outer(line, file, "", complaints);
  if (!line.is_object()) return workload;
  workload.definition = outer.string("definition");
  if (!workload.definition.empty() && workload.definition != definition.name)
    outer.complain("definition", "expected \"" + definition.name + "\", found \"" + workload.definition + "\"");
  for (const char* key : {"solution", "evaluation"})
    if (outer.has(key))
      outer.complain(key, "expected null: a workload's line holds no result, found " + brief(*outer.find(key)));
  const Json& json = outer.object("workload");
  if (!outer.has("workload") || !json.is_object()) return workload;
  JsonReader in(json, file, "workload", complaints);
  workload.uuid = in.string("uuid");
  workload.name = workload.uuid;
  workload.family = "all";
  workload.sets = {"full"};
  workload.tolerance = default_tolerance(definition, defaults);
  const std::size_t before = complaints.size();
  read_axes(definition, workload, in);
  const bool sized = complaints.size() == before && check_size(definition, workload, in);
  if (sized) check_constraints(definition, workload, in);
  read_inputs(definition, workload, in);
  const Json* whet = in.find("whet");
  if (whet) read_ours(*whet, definition, workload, in);
  const Json* recipes = whet && whet->is_object() && whet->contains("recipes") ? &(*whet)["recipes"] : nullptr;
  if (sized) check_recipes(definition, workload, recipes, in);
  return workload;
}

Json to_json(const Workload& workload) {
  Json inner;
  inner["uuid"] = workload.uuid;
  inner["axes"] = Json::object();
  for (const auto& [name, value] : workload.axes) inner["axes"][name] = value;
  inner["inputs"] = Json::object();
  Json recipes = Json::object();
  for (const auto& [name, source] : workload.inputs) {
    inner["inputs"][name] = to_json(source);
    if (source.kind == InputSource::Kind::random) recipes[name] = to_json(source.recipe);
  }
  Json& whet = inner["whet"];
  whet["name"] = workload.name;
  whet["family"] = workload.family;
  whet["sets"] = workload.sets;
  whet["tolerance"] = {
      {"rtol", workload.tolerance.rtol}, {"atol", workload.tolerance.atol}, {"norm", workload.tolerance.norm}};
  if (!recipes.empty()) whet["recipes"] = recipes;
  if (workload.floor_flops > 0 || workload.floor_bytes > 0)
    whet["floor"] = {{"flops", workload.floor_flops}, {"bytes", workload.floor_bytes}};
  Json line;
  line["definition"] = workload.definition;
  line["workload"] = inner;
  line["solution"] = nullptr;
  line["evaluation"] = nullptr;
  return line;
}

}  // namespace whet
