// SPDX-License-Identifier: Apache-2.0
#include "record/definition.h"

#include <algorithm>
#include <array>

#include "base/json_impl.h"
#include "record/constraint.h"
#include "record/keys.h"

namespace whet {
namespace {

constexpr std::array<std::pair<Role, std::string_view>, 4> kRoles = {
    {{Role::activation, "activation"}, {Role::weight, "weight"}, {Role::plan, "plan"}, {Role::inout, "inout"}}};

std::vector<Axis> read_axes(const Json& axes, JsonReader& in) {
  std::vector<Axis> list;
  for (const auto& [name, json] : axes.items()) {
    const std::string path = in.path().empty() ? "axes." + name : in.path() + ".axes." + name;
    JsonReader axis(json, in.file(), path, in.complaints());
    if (!is_identifier(name)) in.complain("axes." + name, "the name of an axis must be an identifier");
    if (!json.is_object()) continue;
    Axis read{name, std::nullopt, axis.string_or("description", "")};
    const std::string type = axis.string("type");
    if (type == "const") read.value = axis.integer("value", 0);
    else if (type == "expr")
      axis.complain(
          "type", "axes given by expressions (SOL-ExecBench) are not supported; make it \"var\" and add a constraint");
    else if (!type.empty() && type != "var")
      axis.complain("type", "expected \"const\" or \"var\", found \"" + type + "\"");
    list.push_back(std::move(read));
  }
  return list;
}

// Absent or null: a scalar by value. A list of declared axes otherwise.
std::optional<std::vector<std::string>> read_shape(const Json& json, const std::vector<std::string>& axes,
                                                   JsonReader& in) {
  const Json* shape = in.find("shape");
  if (!shape) {
    if (json.is_object() && !json.contains("shape"))
      in.complain("shape",
                  "missing; expected a list of axes, [] for one element, or null for a scalar passed by value");
    return std::nullopt;
  }
  std::vector<std::string> names;
  if (!shape->is_array()) {
    in.complain("shape", "expected a list of axes or null, found " + brief(*shape));
    return std::nullopt;
  }
  for (const Json& entry : *shape) {
    if (!entry.is_string()) {
      in.complain("shape", "expected names of axes, found " + brief(entry));
      continue;
    }
    const auto& name = entry.get_ref<const std::string&>();
    if (std::find(axes.begin(), axes.end(), name) == axes.end())
      in.complain("shape", "the axis \"" + name + "\" is not declared under axes" + suggestion(name, axes));
    names.push_back(name);
  }
  return names;
}

std::vector<TensorSpec> read_tensors(const Json& tensors, const char* key, const std::vector<std::string>& axes,
                                     JsonReader& in) {
  std::vector<TensorSpec> list;
  for (const auto& [name, json] : tensors.items()) {
    JsonReader tensor(json, in.file(), std::string(key) + "." + name, in.complaints());
    if (!is_identifier(name)) in.complain(std::string(key) + "." + name, "the name of a tensor must be an identifier");
    if (!json.is_object()) continue;
    TensorSpec spec;
    spec.name = name;
    spec.shape = read_shape(json, axes, tensor);
    spec.description = tensor.string_or("description", "");
    const std::string dtype = tensor.string("dtype");
    if (auto known = dtype_from_name(dtype)) {
      spec.dtype = *known;
    } else if (!dtype.empty()) {
      static const std::vector<std::string> kNames = {"float64",       "float32",     "float16",     "bfloat16",
                                                      "float8_e4m3fn", "float8_e5m2", "float4_e2m1", "int64",
                                                      "int32",         "int16",       "int8",        "bool"};
      tensor.complain("dtype", "unknown dtype \"" + dtype + "\"" + suggestion(dtype, kNames));
    }
    list.push_back(std::move(spec));
  }
  return list;
}

bool has_top_level_run(std::string_view python) {
  for (std::size_t at = 0; at < python.size(); at = std::min(python.find('\n', at), python.size() - 1) + 1) {
    std::string_view line = python.substr(at);
    const auto skip = [&](std::string_view word) {
      if (!line.starts_with(word)) return false;
      line.remove_prefix(word.size());
      line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
      return true;
    };
    if (skip("def ") && skip("run") && line.starts_with("(")) return true;
  }
  return false;
}

void check_names(const Definition& definition, JsonReader& in) {
  if (!definition.name.empty() && !is_plain_name(definition.name))
    in.complain("name", "expected letters, digits and . _ + = - only, found \"" + definition.name + "\"");
  for (const TensorSpec& output : definition.outputs) {
    if (definition.input(output.name)) in.complain("outputs." + output.name, "an input has the same name");
    if (output.is_scalar())
      in.complain("outputs." + output.name + ".shape", "an output cannot be a scalar; write [] for one element");
  }
  for (const auto* list : {&definition.inputs, &definition.outputs})
    for (const TensorSpec& tensor : *list)
      if (definition.axis(tensor.name))
        in.complain((list == &definition.inputs ? "inputs." : "outputs.") + tensor.name, "an axis has the same name");
  for (const TensorSpec& input : definition.inputs)
    if (input.is_scalar() &&
        (input.dtype == Dtype::float4_e2m1 || input.dtype == Dtype::float8_e4m3fn || input.dtype == Dtype::float8_e5m2))
      in.complain("inputs." + input.name + ".dtype",
                  fmt::format("a scalar cannot be {}; use float32", name_of(input.dtype)));
}

void check_constraints(const Definition& definition, JsonReader& in) {
  std::map<std::string, int64_t> ones;
  for (const Axis& axis : definition.axes) ones[axis.name] = axis.value.value_or(1);
  for (std::size_t i = 0; i < definition.constraints.size(); ++i) {
    // With these stand-in values a division by zero says nothing about the expression.
    const auto result = evaluate_constraint(definition.constraints[i], ones);
    if (result.kind == ConstraintResult::Kind::malformed)
      in.complain(fmt::format("constraints[{}]", i),
                  fmt::format("cannot read \"{}\": {}", definition.constraints[i], result.why));
  }
}

void read_ours(const Json& whet, Definition& definition, JsonReader& in) {
  static const std::vector<std::string> kKeys = {"roles", "nan"};
  JsonReader ours(whet, in.file(), "whet", in.complaints());
  complain_about_unknown_keys(whet, kKeys, ours);
  const std::string nan = ours.string_or("nan", "forbid");
  if (nan == "match") definition.nan_policy = NanPolicy::match;
  else if (nan != "forbid") ours.complain("nan", "expected \"forbid\" or \"match\", found \"" + nan + "\"");
  if (!ours.has("roles")) return;
  std::vector<std::string> names;
  for (const TensorSpec& input : definition.inputs)
    if (!input.is_scalar()) names.push_back(input.name);
  for (const auto& [name, json] : ours.object("roles").items()) {
    auto input = std::find_if(definition.inputs.begin(), definition.inputs.end(),
                              [&](const TensorSpec& spec) { return spec.name == name; });
    const std::string key = "roles." + name;
    if (input == definition.inputs.end() || input->is_scalar()) {
      ours.complain(key, "there is no tensor input of this name" + suggestion(name, names));
      continue;
    }
    auto role = json.is_string() ? role_from_name(json.get_ref<const std::string&>()) : std::nullopt;
    if (role) input->role = *role;
    else ours.complain(key, "expected \"activation\", \"weight\", \"plan\" or \"inout\", found " + brief(json));
  }
}

Json tensors_to_json(const std::vector<TensorSpec>& tensors) {
  Json json = Json::object();
  for (const TensorSpec& tensor : tensors) {
    Json& spec = json[tensor.name] = Json::object();
    spec["shape"] = tensor.shape ? Json(*tensor.shape) : Json(nullptr);
    spec["dtype"] = name_of(tensor.dtype);
    if (!tensor.description.empty()) spec["description"] = tensor.description;
  }
  return json;
}

}  // namespace

std::string_view name_of(Role role) { return kRoles[static_cast<std::size_t>(role)].second; }

std::optional<Role> role_from_name(std::string_view name) {
  for (const auto& [role, text] : kRoles)
    if (text == name) return role;
  return std::nullopt;
}

const Axis* Definition::axis(std::string_view wanted) const {
  auto it = std::find_if(axes.begin(), axes.end(), [&](const Axis& axis) { return axis.name == wanted; });
  return it == axes.end() ? nullptr : &*it;
}

const TensorSpec* Definition::input(std::string_view wanted) const {
  auto it = std::find_if(inputs.begin(), inputs.end(), [&](const TensorSpec& spec) { return spec.name == wanted; });
  return it == inputs.end() ? nullptr : &*it;
}

Definition definition_from_json(const Json& json, const std::string& file, std::vector<std::string>& complaints) {
  Definition definition;
  JsonReader in(json, file, "", complaints);
  if (!json.is_object()) return definition;
  definition.name = in.string("name");
  definition.op_type = in.string("op_type");
  definition.description = in.string_or("description", "");
  definition.axes = read_axes(in.object("axes"), in);
  std::vector<std::string> axes;
  for (const Axis& axis : definition.axes) axes.push_back(axis.name);
  definition.inputs = read_tensors(in.object("inputs"), "inputs", axes, in);
  definition.outputs = read_tensors(in.object("outputs"), "outputs", axes, in);
  if (in.has("outputs") && in.object("outputs").empty())
    in.complain("outputs", "expected at least one output, found none");
  definition.reference = in.string("reference");
  if (!definition.reference.empty() && !has_top_level_run(definition.reference))
    in.complain("reference", "expected Python source with a top-level \"def run(\"");
  definition.tags = in.strings_or_empty("tags");
  definition.constraints = in.strings_or_empty("constraints");
  check_names(definition, in);
  check_constraints(definition, in);
  if (const Json* whet = in.find("whet")) read_ours(*whet, definition, in);
  return definition;
}

Json to_json(const Definition& definition) {
  Json json;
  json["name"] = definition.name;
  json["op_type"] = definition.op_type;
  if (!definition.description.empty()) json["description"] = definition.description;
  json["tags"] = definition.tags;
  Json& axes = json["axes"] = Json::object();
  for (const Axis& axis : definition.axes) {
    Json& entry = axes[axis.name] = Json::object();
    entry["type"] = axis.value ? "const" : "var";
    if (axis.value) entry["value"] = *axis.value;
    if (!axis.description.empty()) entry["description"] = axis.description;
  }
  json["constraints"] = definition.constraints;
  json["inputs"] = tensors_to_json(definition.inputs);
  json["outputs"] = tensors_to_json(definition.outputs);
  json["reference"] = definition.reference;
  Json whet = Json::object();
  for (const TensorSpec& input : definition.inputs)
    if (input.role != Role::activation) whet["roles"][input.name] = name_of(input.role);
  if (definition.nan_policy == NanPolicy::match) whet["nan"] = "match";
  if (!whet.empty()) json["whet"] = whet;
  return json;
}

std::vector<int64_t> axis_values(const Definition& definition, const std::map<std::string, int64_t>& axes) {
  std::vector<int64_t> values;
  for (const Axis& axis : definition.axes) {
    auto given = axes.find(axis.name);
    values.push_back(axis.value ? *axis.value : given == axes.end() ? 0 : given->second);
  }
  return values;
}

std::vector<int64_t> shape_of(const Definition& definition, const TensorSpec& tensor,
                              const std::map<std::string, int64_t>& axes) {
  std::vector<int64_t> shape;
  if (!tensor.shape) return shape;
  for (const std::string& name : *tensor.shape) {
    const Axis* axis = definition.axis(name);
    auto given = axes.find(name);
    shape.push_back(axis && axis->value ? *axis->value : given == axes.end() ? 0 : given->second);
  }
  return shape;
}

int64_t element_count(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

}  // namespace whet
