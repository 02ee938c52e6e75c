// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/lent_device.h"

#include <unistd.h>

#include <utility>

namespace whet::runner {
namespace {

std::vector<gpu::Range> ranges_of(const std::vector<DeviceMapping>& mappings) {
  std::vector<gpu::Range> ranges;
  for (const DeviceMapping& mapping : mappings) ranges.push_back({mapping.address(), mapping.bytes()});
  return ranges;
}

std::unexpected<Error> refused(std::span<const int> descriptors, const char* why) {
  for (int descriptor : descriptors) close(descriptor);
  return machine_failed("lending device memory: {}", why);
}

}  // namespace

Status LentDevice::map(std::span<const Placement> placements, std::span<const int> descriptors, bool read_only, std::vector<DeviceMapping>& mappings) {
  Status status;
  for (size_t i = 0; i < descriptors.size(); ++i) {
    if (!status) {
      close(descriptors[i]);
      continue;
    }
    auto mapping = DeviceMapping::make(code_, descriptors[i], {placements[i].object_bytes, placements[i].offset, placements[i].bytes}, read_only);
    if (mapping) mappings.push_back(std::move(*mapping));
    else status = std::unexpected(std::move(mapping).error());
  }
  return status;
}

Status LentDevice::lend(const Layout& layout, std::span<const int> descriptors) {
  release();
  if (layout.num_inputs < 0 || layout.num_outputs < 0 || layout.num_inputs + layout.num_outputs > kMaxTensors || layout.num_sets < 1 || layout.num_sets > kMaxSets)
    return refused(descriptors, "the layout is not one");
  num_inputs_ = static_cast<size_t>(layout.num_inputs);
  num_outputs_ = static_cast<size_t>(layout.num_outputs);
  const auto num_sets = static_cast<size_t>(layout.num_sets);
  if (descriptors.size() != num_sets * num_inputs_ + num_outputs_) return refused(descriptors, "the number of descriptors is not that of the layout");
  sets_.resize(num_sets);
  Status status;
  for (size_t set = 0; set < num_sets; ++set) {
    const Status mapped = map({layout.placement[set], num_inputs_}, descriptors.subspan(set * num_inputs_, num_inputs_), layout.inputs_writable == 0, sets_[set].inputs);
    if (status && !mapped) status = mapped;
    sets_[set].complete = mapped.has_value();
  }
  const Status mapped = map({layout.placement[0] + num_inputs_, num_outputs_}, descriptors.subspan(num_sets * num_inputs_), false, sets_[0].outputs);
  return status ? mapped : status;
}

Status LentDevice::lend_set(const LentSet& lent, std::span<const int> descriptors) {
  if (sets_.empty() || lent.set < kMaxSets || lent.set >= kMaxLentSets || descriptors.size() != num_inputs_ + num_outputs_)
    return refused(descriptors, "the set is not one that can be added");
  const auto index = static_cast<size_t>(lent.set);
  if (sets_.size() <= index) sets_.resize(index + 1);
  Set set;
  const Status inputs = map({lent.placement, num_inputs_}, descriptors.first(num_inputs_), true, set.inputs);
  const Status outputs = map({lent.placement + num_inputs_, num_outputs_}, descriptors.subspan(num_inputs_), false, set.outputs);
  set.complete = inputs && outputs;
  sets_[index] = std::move(set);
  return inputs ? outputs : inputs;
}

Status LentDevice::lend_workspace(const Placement& placement, int descriptor) {
  std::vector<DeviceMapping> mapped;
  WHET_OK(map({&placement, 1}, {&descriptor, 1}, false, mapped));
  workspace_ = std::move(mapped.front());
  return {};
}

void LentDevice::release() {
  sets_.clear();
  workspace_ = {};
}

const std::vector<DeviceMapping>& LentDevice::outputs_of(uint32_t set) const { return sets_[set].outputs.empty() ? sets_[0].outputs : sets_[set].outputs; }

std::vector<void*> LentDevice::pointers(uint32_t set) const {
  std::vector<void*> pointers;
  for (const auto* mappings : {&sets_[set].inputs, &outputs_of(set)})
    for (const DeviceMapping& mapping : *mappings) pointers.push_back(reinterpret_cast<void*>(static_cast<uintptr_t>(mapping.address())));
  return pointers;
}

std::vector<gpu::Range> LentDevice::inputs(uint32_t set) const { return ranges_of(sets_[set].inputs); }
std::vector<gpu::Range> LentDevice::outputs(uint32_t set) const { return ranges_of(outputs_of(set)); }

}  // namespace whet::runner
