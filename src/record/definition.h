// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "record/dtype.h"

namespace whet {

struct Axis {
  std::string name;
  std::optional<int64_t> value;  // a constant axis; absent for a variable one
  std::string description;
  bool operator==(const Axis&) const = default;
};

// What an input is to a call, and so when it is redrawn: activations for every call; weights and plans only together with a new prepare().
// `inout` is read and overwritten.
enum class Role { activation, weight, plan, inout };
std::string_view name_of(Role role);
std::optional<Role> role_from_name(std::string_view name);

// Whether NaN and infinities may stand in outputs: forbid = neither, match = exactly where the reference has them.
enum class NanPolicy { forbid, match };

struct TensorSpec {
  std::string name;
  std::optional<std::vector<std::string>> shape;  // axis names; absent = a scalar passed by value; empty = one element
  Dtype dtype = Dtype::float32;
  std::string description;
  Role role = Role::activation;  // inputs only; from Definition.whet.roles
  bool is_scalar() const { return !shape.has_value(); }
  bool operator==(const TensorSpec&) const = default;
};

// The operator's mathematical contract (FlashInfer Trace's Definition; ours sits under its key `whet`). Orders are those of the file:
// axes, inputs and outputs are passed to a Solution in this order.
struct Definition {
  std::string name;
  std::string op_type;
  std::string description;
  std::vector<Axis> axes;
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  std::string reference;  // Python source with a top-level run(); the specification, kept for export
  std::vector<std::string> tags;
  std::vector<std::string> constraints;  // expressions over axes, as text
  NanPolicy nan_policy = NanPolicy::forbid;

  const Axis* axis(std::string_view name) const;
  const TensorSpec* input(std::string_view name) const;
  bool operator==(const Definition&) const = default;
};

// Reads a Definition and appends every complaint ("FILE: axes.q: expected ..., found ...") to `complaints`. The result is usable only if
// none was added. Unknown keys are ignored, as FlashInfer-Bench does, but not under `whet`.
Definition definition_from_json(const Json& json, const std::string& file, std::vector<std::string>& complaints);
Json to_json(const Definition& definition);

// The values of all axes, in the Definition's order, for a workload's variable axes. `axes` has been checked.
std::vector<int64_t> axis_values(const Definition& definition, const std::map<std::string, int64_t>& axes);
// Elements of a tensor under these axis values (1 for a scalar). The product fits into 63 bits (checked when a workload is read).
std::vector<int64_t> shape_of(const Definition& definition, const TensorSpec& tensor,
                              const std::map<std::string, int64_t>& axes);
int64_t element_count(const std::vector<int64_t>& shape);

}  // namespace whet
