// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace whet {
namespace {

constexpr uint64_t kPage = 4096;
// All bits set is a NaN in every float format, so that a value read past the end does not stay unnoticed.
constexpr uint8_t kRed = 0xff;

uint64_t rounded_up(uint64_t bytes, uint64_t unit) { return (bytes + unit - 1) / unit * unit; }

runner::Placement place_tensor(uint64_t bytes, Buffer::Place place, uint64_t draw) {
  runner::Placement placement;
  placement.bytes = bytes;
  const uint64_t padded = rounded_up(std::max<uint64_t>(bytes, 1), 64);
  switch (place) {
    case Buffer::Place::start:
      placement.offset = kRedZone;
      break;
    case Buffer::Place::drawn:
      placement.offset = kRedZone + draw % ((kPage - kRedZone) / 64) * 64;
      break;
    case Buffer::Place::end:
      placement.object_bytes = rounded_up(padded + kRedZone, kPage);
      placement.offset = placement.object_bytes - padded;
      return placement;
  }
  placement.object_bytes = rounded_up(placement.offset + padded + kRedZone, kPage);
  return placement;
}

}  // namespace

Expected<Buffer> Buffer::make(uint64_t bytes, Access access, Place place, uint64_t draw) {
  Buffer buffer;
  buffer.placement_ = place_tensor(bytes, place, draw);
  const uint64_t size = buffer.placement_.object_bytes;
  buffer.descriptor_ = memfd_create("whet", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (buffer.descriptor_ < 0) return system_error("memfd_create for a buffer of the Solution", errno);
  if (ftruncate(buffer.descriptor_, static_cast<off_t>(size)) != 0) return system_error(fmt::format("sizing a buffer of {} bytes", size), errno);
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, buffer.descriptor_, 0);
  if (base == MAP_FAILED) return system_error(fmt::format("mapping a buffer of {} bytes", size), errno);
  buffer.base_ = static_cast<uint8_t*>(base);
  // Sealed only now: F_SEAL_WRITE is refused while a writable mapping exists, FUTURE_WRITE leaves the worker's own mapping alone.
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (access == Access::read_only) seals |= F_SEAL_FUTURE_WRITE;
  if (fcntl(buffer.descriptor_, F_ADD_SEALS, seals) != 0) return system_error("sealing a buffer of the Solution", errno);
  buffer.paint_red_zones();
  return buffer;
}

Buffer::Buffer(Buffer&& other) noexcept { *this = std::move(other); }

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(base_, other.base_);
  std::swap(placement_, other.placement_);
  return *this;
}

Buffer::~Buffer() {
  if (base_) munmap(base_, placement_.object_bytes);
  if (descriptor_ >= 0) close(descriptor_);
}

void Buffer::paint_red_zones() {
  std::memset(base_, kRed, placement_.offset);
  const uint64_t end = placement_.offset + placement_.bytes;
  std::memset(base_ + end, kRed, placement_.object_bytes - end);
}

int64_t Buffer::damage() const {
  for (uint64_t i = placement_.offset; i > 0; --i)
    if (base_[i - 1] != kRed) return static_cast<int64_t>(placement_.offset - i + 1);
  const uint64_t end = placement_.offset + placement_.bytes;
  for (uint64_t i = end; i < placement_.object_bytes; ++i)
    if (base_[i] != kRed) return static_cast<int64_t>(i - end + 1);
  return -1;
}

}  // namespace whet
