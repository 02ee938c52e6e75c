// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/error.h"
#include "truth/runner/protocol.h"

namespace whet {

// Memory that the worker lends to a jailed process: an anonymous memory object which the worker maps writable. A read-only one is sealed
// after that (SHRINK, GROW, FUTURE_WRITE, SEAL): no other process can map it writable, reopen it for writing or mprotect it. Around the
// tensor lie red zones; the runner maps the object between two inaccessible pages.
class Buffer {
 public:
  enum class Access { read_only, writable };
  // Where the tensor lies within its pages: at the start, at a drawn offset, or against the end so that the next byte but 63 faults.
  enum class Place { start, drawn, end };

  static Expected<Buffer> make(uint64_t bytes, Access access, Place place, uint64_t draw);
  Buffer() = default;
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  int descriptor() const { return descriptor_; }
  const runner::Placement& placement() const { return placement_; }
  uint8_t* data() { return base_ + placement_.offset; }
  const uint8_t* data() const { return base_ + placement_.offset; }
  uint64_t bytes() const { return placement_.bytes; }

  void paint_red_zones();
  // -1 if they are as painted; else the distance in bytes of the first damaged byte from the tensor (before its start or after its end).
  int64_t damage() const;

 private:
  int descriptor_ = -1;
  uint8_t* base_ = nullptr;
  runner::Placement placement_;
};

constexpr uint64_t kRedZone = 256;  // bytes at least on the side away from the inaccessible page

}  // namespace whet
