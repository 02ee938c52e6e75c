// SPDX-License-Identifier: Apache-2.0
//
// A Solution's shared library, called as the judge calls it.
#pragma once

#include <dlfcn.h>

#include <cstring>

#include "device.h"
#include "scenario.h"

namespace hopper {

class Solution {
 public:
  explicit Solution(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    auto* table = library ? reinterpret_cast<const WhetSolution* (*)()>(dlsym(library, "whet_solution_v1")) : nullptr;
    if (!table) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), dlerror());
      std::exit(2);
    }
    table_ = table();
  }
  const WhetEntry* entry(const std::string& definition) const {
    for (whet_uint32 i = 0; i < table_->num_entries; ++i)
      if (definition == table_->entries[i].definition) return &table_->entries[i];
    return nullptr;
  }

 private:
  const WhetSolution* table_;
};

// One plan of a scenario: workspace zeroed, prepare() done. `output_type` is what the outputs hold: a reference writes float32.
class Prepared {
 public:
  Prepared(const Solution& solution, const std::string& entry, const Scenario& scenario, void* output, Type output_type) : entry_(solution.entry(entry)) {
    if (!entry_) {
      error_ = "no entry " + entry;
      return;
    }
    for (const Tensor& tensor : scenario.tensors) shapes_.push_back(tensor.shape);
    for (std::size_t i = 0; i < scenario.tensors.size(); ++i) {
      const Tensor& tensor = scenario.tensors[i];
      tensors_.push_back({tensor.output ? output : tensor.data, {WHET_DEVICE_CUDA, 0}, static_cast<whet_int32>(tensor.shape.size()), dtype(tensor.output ? output_type : tensor.type),
                          shapes_[i].data(), nullptr, 0});
    }
    for (const auto& [name, value] : scenario.axes) axes_.push_back(value);
    for (const auto& [name, value] : scenario.scalars) scalars_.push_back(value);
    call_ = {sizeof(WhetCall), static_cast<whet_int32>(tensors_.size()), static_cast<whet_int32>(tensors_.size()) - 1, static_cast<whet_int32>(axes_.size()),
             static_cast<whet_int32>(scalars_.size()), 1, tensors_.data(), axes_.data(), scalars_.data(), nullptr, nullptr, 0, message_, sizeof message_};
    without_data();
    whet_uint64 bytes = 0;
    if (entry_->workspace_bytes && entry_->workspace_bytes(&call_, &bytes) != 0) fail("workspace_bytes");
    if (bytes > 0) {
      must(cudaMalloc(&call_.workspace, bytes), "workspace");
      must(cudaMemset(call_.workspace, 0, bytes), "workspace");
    }
    call_.workspace_bytes = bytes;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (scenario.tensors[i].plan) tensors_[i].data = scenario.tensors[i].data;
    if (entry_->prepare && entry_->prepare(&call_, &state_) != 0) fail("prepare");
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].data = scenario.tensors[i].output ? output : scenario.tensors[i].data;
  }
  ~Prepared() {
    if (entry_ && entry_->destroy) entry_->destroy(state_);
    cudaFree(call_.workspace);
  }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  bool run() {
    if (error_.empty() && entry_->run(&call_, state_) != 0) fail("run");
    return error_.empty();
  }
  const std::string& error() const { return error_; }
  whet_uint64 workspace_bytes() const { return call_.workspace_bytes; }

 private:
  static WhetDtype dtype(Type type) {
    switch (type) {
      case Type::bf16: return {WHET_DTYPE_BFLOAT, 16, 1};
      case Type::fp16: return {WHET_DTYPE_FLOAT, 16, 1};
      case Type::e4m3: return {WHET_DTYPE_FLOAT8_E4M3FN, 8, 1};
      case Type::f32: return {WHET_DTYPE_FLOAT, 32, 1};
      case Type::i32: return {WHET_DTYPE_INT, 32, 1};
    }
    return {};
  }
  void without_data() {
    for (WhetTensor& tensor : tensors_) tensor.data = nullptr;
  }
  void fail(const char* step) { error_ = std::string(step) + ": " + message_; }

  const WhetEntry* entry_;
  std::vector<std::vector<whet_int64>> shapes_;
  std::vector<WhetTensor> tensors_;
  std::vector<whet_int64> axes_;
  std::vector<WhetScalar> scalars_;
  WhetCall call_ = {};
  void* state_ = nullptr;
  char message_[256] = "";
  std::string error_;
};

}  // namespace hopper
