// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/device_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace whet {
namespace {

uint64_t rounded_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

// The handle is not needed once the memory is mapped and exported: both keep it alive.
class OwnedHandle {
 public:
  OwnedHandle(const cuda::Driver& driver, cuda::Handle handle) : driver_(driver), handle_(handle) {}
  ~OwnedHandle() { (void)driver_.memory_release(handle_); }
  OwnedHandle(const OwnedHandle&) = delete;
  OwnedHandle& operator=(const OwnedHandle&) = delete;

 private:
  const cuda::Driver& driver_;
  cuda::Handle handle_;
};

Status allow(const cuda::Driver& driver, cuda::Address base, uint64_t bytes, int ordinal, int flags) {
  cuda::AccessDescription access;
  access.location.id = ordinal;
  access.flags = flags;
  return driver.check(driver.set_access(base, bytes, &access, 1), "allowing access to device memory");
}

}  // namespace

DevicePlacement place_on_device(uint64_t bytes, DeviceBuffer::Place place, uint64_t draw, uint64_t granularity) {
  DevicePlacement placement;
  placement.bytes = bytes;
  const uint64_t padded = rounded_up(std::max<uint64_t>(bytes, 1), 64);
  if (place == DeviceBuffer::Place::end) {
    placement.object_bytes = rounded_up(padded + kDeviceRedZone, granularity);
    placement.offset = placement.object_bytes - padded;
    return placement;
  }
  placement.object_bytes = rounded_up(padded + 2 * kDeviceRedZone, granularity);
  placement.offset = kDeviceRedZone;
  // Among the offsets that cost no further granule.
  const uint64_t choices = (placement.object_bytes - padded - 2 * kDeviceRedZone) / 64 + 1;
  if (place == DeviceBuffer::Place::drawn) placement.offset += draw % choices * 64;
  return placement;
}

Expected<DeviceBuffer> DeviceBuffer::make(const DeviceCode& code, uint64_t bytes, Place place, uint64_t draw) {
  const cuda::Driver& driver = code.driver();
  DeviceBuffer buffer;
  buffer.driver_ = &driver;
  buffer.placement_ = place_on_device(bytes, place, draw, code.granularity());
  const uint64_t size = buffer.placement_.object_bytes;
  cuda::AllocationProperties properties;
  properties.location.id = code.ordinal();
  cuda::Handle handle = 0;
  WHET_OK(driver.check(driver.memory_create(&handle, size, &properties, 0), fmt::format("allocating {} bytes of device memory", size)));
  const OwnedHandle owned(driver, handle);
  WHET_OK(driver.check(driver.address_reserve(&buffer.base_, size, code.granularity(), 0, 0), "reserving addresses for device memory"));
  WHET_OK(driver.check(driver.map(buffer.base_, size, 0, handle, 0), "mapping device memory"));
  buffer.mapped_ = true;
  WHET_OK(allow(driver, buffer.base_, size, code.ordinal(), cuda::kAccessReadWrite));
  WHET_OK(driver.check(driver.export_handle(&buffer.descriptor_, handle, cuda::kHandleDescriptor, 0), "exporting device memory"));
  // A runner that is started meanwhile must not inherit it.
  if (fcntl(buffer.descriptor_, F_SETFD, FD_CLOEXEC) != 0) return system_error("closing a descriptor of device memory on exec", errno);
  return buffer;
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(placement_, other.placement_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() {
  if (mapped_) (void)driver_->unmap(base_, placement_.object_bytes);
  if (base_) (void)driver_->address_free(base_, placement_.object_bytes);
  if (descriptor_ >= 0) close(descriptor_);
}

Expected<DeviceMapping> DeviceMapping::make(const DeviceCode& code, int descriptor, const DevicePlacement& placement, bool read_only) {
  const cuda::Driver& driver = code.driver();
  cuda::Handle handle = 0;
  const cuda::Result imported = driver.import_handle(&handle, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)), cuda::kHandleDescriptor);
  close(descriptor);
  WHET_OK(driver.check(imported, "importing device memory"));
  const OwnedHandle owned(driver, handle);
  DeviceMapping mapping;
  mapping.driver_ = &driver;
  mapping.placement_ = placement;
  const uint64_t granule = code.granularity();
  const uint64_t whole = placement.object_bytes + 2 * granule;
  WHET_OK(driver.check(driver.address_reserve(&mapping.reserved_, whole, granule, 0, 0), "reserving addresses for device memory"));
  mapping.reserved_bytes_ = whole;
  mapping.base_ = mapping.reserved_ + granule;
  WHET_OK(driver.check(driver.map(mapping.base_, placement.object_bytes, 0, handle, 0), "mapping device memory"));
  mapping.mapped_ = true;
  WHET_OK(allow(driver, mapping.base_, placement.object_bytes, code.ordinal(), read_only ? cuda::kAccessRead : cuda::kAccessReadWrite));
  return mapping;
}

DeviceMapping::DeviceMapping(DeviceMapping&& other) noexcept { *this = std::move(other); }

DeviceMapping& DeviceMapping::operator=(DeviceMapping&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(reserved_, other.reserved_);
  std::swap(base_, other.base_);
  std::swap(reserved_bytes_, other.reserved_bytes_);
  std::swap(mapped_, other.mapped_);
  std::swap(placement_, other.placement_);
  return *this;
}

DeviceMapping::~DeviceMapping() {
  if (mapped_) (void)driver_->unmap(base_, placement_.object_bytes);
  if (reserved_) (void)driver_->address_free(reserved_, reserved_bytes_);
}

}  // namespace whet
