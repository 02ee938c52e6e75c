// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/error.h"
#include "truth/gpu/device_code.h"

namespace whet {

// Where a tensor lies in its allocation; as runner::Placement.
struct DevicePlacement {
  uint64_t object_bytes = 0;  // a multiple of the granularity (2 MiB)
  uint64_t offset = 0;        // of the first element; a multiple of 64
  uint64_t bytes = 0;
};

// Device memory that the worker owns and lends: an allocation of whole granules, mapped read-write here, and given to a jailed process as a file
// descriptor. That process maps it between two unmapped granules, inputs for reading only. What the tensor leaves free of the allocation is a red
// zone, all bits set (a NaN in every float format); painted and checked by DeviceWork.
class DeviceBuffer {
 public:
  // Where the tensor lies: at the start, at a drawn offset, or against the end so that the next byte but 63 faults.
  enum class Place { start, drawn, end };

  static Expected<DeviceBuffer> make(const DeviceCode& code, uint64_t bytes, Place place, uint64_t draw);
  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  int descriptor() const { return descriptor_; }
  const DevicePlacement& placement() const { return placement_; }
  cuda::Address address() const { return base_ + placement_.offset; }  // of the tensor
  cuda::Address base() const { return base_; }
  uint64_t bytes() const { return placement_.bytes; }

 private:
  const cuda::Driver* driver_ = nullptr;
  cuda::Address base_ = 0;
  bool mapped_ = false;
  int descriptor_ = -1;
  DevicePlacement placement_;
};

// Pure; shown for its test. At least kDeviceRedZone bytes lie before the tensor, and after it unless it lies at the end.
DevicePlacement place_on_device(uint64_t bytes, DeviceBuffer::Place place, uint64_t draw, uint64_t granularity);

constexpr uint64_t kDeviceRedZone = 4096;

// What a process that was lent an allocation maps: the granules of the object between two that are reserved and stay unmapped.
class DeviceMapping {
 public:
  // Takes the descriptor: closes it, whatever happens.
  static Expected<DeviceMapping> make(const DeviceCode& code, int descriptor, const DevicePlacement& placement, bool read_only);
  DeviceMapping() = default;
  DeviceMapping(DeviceMapping&& other) noexcept;
  DeviceMapping& operator=(DeviceMapping&& other) noexcept;
  ~DeviceMapping();

  cuda::Address address() const { return base_ + placement_.offset; }
  uint64_t bytes() const { return placement_.bytes; }
  explicit operator bool() const { return mapped_; }

 private:
  const cuda::Driver* driver_ = nullptr;
  cuda::Address reserved_ = 0, base_ = 0;
  uint64_t reserved_bytes_ = 0;
  bool mapped_ = false;
  DevicePlacement placement_;
};

}  // namespace whet
