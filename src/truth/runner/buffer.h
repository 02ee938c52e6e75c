// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "base/error.h"
#include "truth/runner/protocol.h"

namespace whet {

// Memory that the worker lends to a jailed process: an object behind a descriptor, which the worker maps writable and the other may map only as it was
// lent. Around the tensor lie red zones. `data` is an address of the memory that it was made in: the host's, or a GPU's, where only that GPU's code
// may follow it.
class Buffer {
 public:
  enum class Access { read_only, writable };
  // Where the tensor lies within its pages: at the start, at a drawn offset, or against the end so that the next byte but 63 faults.
  enum class Place { start, drawn, end };

  Buffer() = default;
  // `keeper` unmaps and closes when the last owner goes.
  Buffer(int descriptor, uint8_t* base, const runner::Placement& placement, std::shared_ptr<void> keeper)
      : descriptor_(descriptor), base_(base), placement_(placement), keeper_(std::move(keeper)) {}

  int descriptor() const { return descriptor_; }
  const runner::Placement& placement() const { return placement_; }
  uint8_t* base() const { return base_; }  // of the object, red zones included
  uint8_t* data() { return base_ + placement_.offset; }
  const uint8_t* data() const { return base_ + placement_.offset; }
  uint64_t bytes() const { return placement_.bytes; }
  const void* keeper() const { return keeper_.get(); }

 private:
  int descriptor_ = -1;
  uint8_t* base_ = nullptr;
  runner::Placement placement_;
  std::shared_ptr<void> keeper_;
};

// An anonymous memory object of the host. A read-only one is sealed once the worker has mapped it (SHRINK, GROW, FUTURE_WRITE, SEAL): no other process
// can map it writable, reopen it for writing or mprotect it. The runner maps it between two inaccessible pages.
Expected<Buffer> lend_host_memory(uint64_t bytes, Buffer::Access access, Buffer::Place place, uint64_t draw);
// -1 if the red zones are as they were painted; else the distance in bytes of the first damaged byte from the tensor (before its start or after its end).
int64_t host_damage(const Buffer& buffer);

constexpr uint64_t kRedZone = 256;  // bytes at least on the side away from the inaccessible page

}  // namespace whet
