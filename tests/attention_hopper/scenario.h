// SPDX-License-Identifier: Apache-2.0
//
// A workload of the task with its tensors in device memory, and how it is handed to a Solution.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "json.h"
#include "whet/candidate.h"

namespace hopper {

enum class Type { bf16, fp16, e4m3, f32, i32 };
int size_of(Type type);

struct Recipe {
  std::string kind;
  double scale = 1, low = 0, high = 1;
  std::vector<int> lengths;
};

struct Tensor {
  std::string name;
  Type type = Type::f32;
  bool output = false, plan = false;
  std::vector<whet_int64> shape;
  long long count = 1;
  Recipe recipe;
  void* data = nullptr;  // on the device
  long long bytes() const { return count * size_of(type); }
};

struct Scenario {
  std::string definition, name, family;
  std::vector<std::string> sets;
  std::vector<Tensor> tensors;  // in the Definition's order
  std::vector<std::pair<std::string, whet_int64>> axes;
  std::vector<std::pair<std::string, WhetScalar>> scalars;
  double rtol = 0, atol = 0, norm = 0, flops = 0, bytes = 0;

  whet_int64 axis(const std::string& name) const;
  const WhetScalar& scalar(const std::string& name) const;
  const Tensor* tensor(const std::string& name) const;
  Tensor& output() { return tensors.back(); }
};

std::map<std::string, Json> read_definitions(const std::string& task, const std::vector<std::string>& names);
// The scenarios of one .jsonl file.
std::vector<Scenario> read_scenarios(const std::string& path, const std::map<std::string, Json>& definitions);

// Device memory for all tensors; contents by the recipes, the same for the same seed.
void allocate(Scenario& scenario);
void release(Scenario& scenario);
void draw(const Scenario& scenario, const Tensor& tensor, unsigned long long seed);
// Rounds a tensor to the next lower precision, as the judge's mutant does: 4 mantissa bits of 16-bit floats, 2 of e4m3.
void round_down(const Tensor& tensor);

}  // namespace hopper
