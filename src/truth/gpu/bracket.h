// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "base/error.h"
#include "truth/gpu/device_arguments.h"
#include "truth/gpu/device_code.h"

namespace whet {

// What surrounds a timed call on a stream, in the process and context of the Solution: caches flushed or touched before it, a blocker that holds the
// stream until the call has been submitted whole, an event on either side, a sample of the outputs after it. In this order:
//   flush() or touch(); block(); begin(); <the call>; end(); sample(); release(); finish();
class Bracket {
 public:
  static Expected<Bracket> make(const DeviceCode& code, cuda::Stream stream);
  Bracket() = default;
  Bracket(Bracket&& other) noexcept;
  Bracket& operator=(Bracket&& other) noexcept;
  ~Bracket();

  // Reads and writes a private region of four times the last cache, after the lines that are marked as persisting have been given up.
  Status flush();
  Status touch(std::span<const gpu::Range> ranges);

  // The blocker gives up after `limit_ns`: then the call waited for its own work, and everything it measures is void.
  Status block(uint64_t limit_ns = gpu::kBlockLimitNs);
  void release();

  Status begin();
  Status end();
  Status sample(std::span<const gpu::Range> tensors, uint64_t salt);
  // Waits for the stream. The error names what the device said: the first place where a fault of the Solution shows.
  cuda::Result finish();

  // Valid after finish().
  double device_ns() const;            // between the events; negative: not known
  uint64_t sampled() const;
  bool gave_up() const;
  double clock_mhz() const;            // of the multiprocessor on which the blocker waited, while it did; 0 unknown

  // The carve-out for persisting lines: set to 0, and read again, since a Solution may set it.
  Status forbid_persisting() const;
  uint64_t persisting_bytes() const;

 private:
  struct Words {
    gpu::BlockWord block;
    uint64_t sampled;
    uint64_t sink;
  };
  Words* words() const { return static_cast<Words*>(host_.data()); }
  cuda::Address address_of(size_t offset) const { return host_.address() + offset; }

  const DeviceCode* code_ = nullptr;
  cuda::Stream stream_ = nullptr;
  PinnedMemory host_;
  cuda::Address region_ = 0;
  uint64_t region_bytes_ = 0;
  cuda::Event begin_ = nullptr, end_ = nullptr;
  uint32_t sequence_ = 0;
};

}  // namespace whet
