// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "record/definition.h"

namespace whet {

// How the contents of one input are drawn. Values depend only on the draw's key, the tensor and the element's index.
struct Recipe {
  enum class Kind { normal, uniform, constant, lengths, cumsum_of, page_permutation, index_below, planted };
  Kind kind = Kind::normal;      // uniform on integers and bool: every integer of [low, high], both included
  double scale = 1;              // normal, planted: standard deviation
  double low = 0, high = 1;      // uniform
  double value = 0;              // constant
  std::vector<int64_t> lengths;  // lengths: the values themselves
  std::string of;     // cumsum_of: the input that is summed (the result has one element more, starting at 0);
                      // index_below: the axis that bounds the index
  int64_t peaks = 0;  // planted: heavy elements per row (of the last axis), at drawn positions, 8 x scale
  bool operator==(const Recipe&) const = default;
};

std::string_view name_of(Recipe::Kind kind);  // "page_permutation"

struct InputSource {
  enum class Kind { random, scalar, safetensors };
  Kind kind = Kind::random;
  std::variant<int64_t, double, bool> scalar =
      int64_t{0};                // the JSON token decides: 1 is an integer, 1.0 a float, true a bool
  std::string path, tensor_key;  // safetensors: relative to the task's root
  Recipe recipe;                 // random: from Workload.whet.recipes, else FlashInfer's rule for the dtype
  bool operator==(const InputSource&) const = default;
};

// An element passes iff |got - want| <= rtol * |want| + atol * rms(want); a tensor passes iff ||got - want|| <= norm * ||want|| (a negative
// `norm` means no such bound). rms is over the elements of the expected output tensor that are finite and not exactly zero, and 0 if there are none
// (then `got` must be zero too): zeros cannot hide below an absolute tolerance, and rows that must be zero do not tighten it for the others. Integers
// compare exactly.
struct Tolerance {
  double rtol = 1e-2;
  double atol = 1e-2;
  double norm = -1;
  bool operator==(const Tolerance&) const = default;
};

// One shape and input recipe of a Definition (FlashInfer Trace's Workload; ours sits under its key `whet`).
struct Workload {
  std::string uuid;
  std::string definition;
  std::map<std::string, int64_t> axes;        // the variable axes
  std::map<std::string, InputSource> inputs;  // every input of the Definition
  std::string name;                           // whet.name, unique in the task; the uuid if absent
  std::string family;                         // whet.family; "all" if absent
  std::vector<std::string> sets;              // whet.sets; {"full"} if absent
  Tolerance tolerance;
  double floor_flops = 0;  // whet.floor: operations and bytes that no correct Solution can avoid; 0 = unknown
  double floor_bytes = 0;
  bool operator==(const Workload&) const = default;
};

// Reads one line of workloads/*.jsonl ({"definition", "workload", "solution": null, "evaluation": null}) against its Definition.
// Complaints as for definition_from_json; `file` carries the line ("workloads/a.jsonl:3"). A workload that states no tolerance gets the loosest
// of the `defaults` for its outputs' dtypes. Values: a scalar of a float dtype is held as double whatever its token; integer inputs that are
// drawn need a recipe; the tensors of one workload take at most kMaxWorkloadBytes, so no product of extents overflows.
inline constexpr int64_t kMaxWorkloadBytes = int64_t{64} << 30;
Workload workload_from_json(const Json& line, const Definition& definition, const std::string& file,
                            std::vector<std::string>& complaints, const std::map<Dtype, Tolerance>& defaults = {});
Json to_json(const Workload& workload);

}  // namespace whet
