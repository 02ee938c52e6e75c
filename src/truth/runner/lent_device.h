// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "truth/gpu/device_arguments.h"
#include "truth/gpu/device_memory.h"
#include "truth/runner/protocol.h"

namespace whet::runner {

// The device memory that a CUDA runner was lent: sets of inputs (mapped for reading only) with their outputs, and the workspace. Takes descriptors and
// closes them. Sets without outputs of their own use those of set 0.
class LentDevice {
 public:
  explicit LentDevice(const DeviceCode& code) : code_(code) {}

  Status lend(const Layout& layout, std::span<const int> descriptors);
  Status lend_set(const LentSet& lent, std::span<const int> descriptors);
  Status lend_workspace(const Placement& placement, int descriptor);
  void release();

  bool has_set(uint32_t set) const { return set < sets_.size() && sets_[set].complete; }
  // In Definition order: what a call on this set points to.
  std::vector<void*> pointers(uint32_t set) const;
  std::vector<gpu::Range> inputs(uint32_t set) const;
  std::vector<gpu::Range> outputs(uint32_t set) const;
  void* workspace() const { return workspace_ ? reinterpret_cast<void*>(static_cast<uintptr_t>(workspace_.address())) : nullptr; }
  uint64_t workspace_bytes() const { return workspace_.bytes(); }

 private:
  struct Set {
    std::vector<DeviceMapping> inputs, outputs;
    bool complete = false;
  };
  Status map(std::span<const Placement> placements, std::span<const int> descriptors, bool read_only, std::vector<DeviceMapping>& mappings);
  const std::vector<DeviceMapping>& outputs_of(uint32_t set) const;

  const DeviceCode& code_;
  size_t num_inputs_ = 0, num_outputs_ = 0;
  std::vector<Set> sets_;
  DeviceMapping workspace_;
};

}  // namespace whet::runner
