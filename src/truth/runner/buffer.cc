// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/buffer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "base/halves.h"

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

struct Mapped {
  int descriptor = -1;
  void* base = MAP_FAILED;
  uint64_t bytes = 0;
  ~Mapped() {
    if (base != MAP_FAILED) munmap(base, bytes);
    if (descriptor >= 0) close(descriptor);
  }
};

// Makes all pages at once, on two threads: it is most of what a buffer costs. Where it is refused they come as they are touched.
void populate(uint8_t* base, uint64_t bytes) {
#ifdef MADV_POPULATE_WRITE
  in_halves(static_cast<int64_t>(bytes), kPage, 1 << 20, [&](int64_t begin, int64_t end) { (void)madvise(base + begin, static_cast<size_t>(end - begin), MADV_POPULATE_WRITE); });
#else
  static_cast<void>(base), static_cast<void>(bytes);
#endif
}

void paint_red_zones(uint8_t* base, const runner::Placement& placement) {
  std::memset(base, kRed, placement.offset);
  const uint64_t end = placement.offset + placement.bytes;
  std::memset(base + end, kRed, placement.object_bytes - end);
}

}  // namespace

Expected<Buffer> lend_host_memory(uint64_t bytes, Buffer::Access access, Buffer::Place place, uint64_t draw) {
  const runner::Placement placement = place_tensor(bytes, place, draw);
  auto mapped = std::make_shared<Mapped>();
  mapped->bytes = placement.object_bytes;
  mapped->descriptor = memfd_create("whet", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (mapped->descriptor < 0) return system_error("memfd_create for a buffer of the Solution", errno);
  if (ftruncate(mapped->descriptor, static_cast<off_t>(mapped->bytes)) != 0) return system_error(fmt::format("sizing a buffer of {} bytes", mapped->bytes), errno);
  mapped->base = mmap(nullptr, mapped->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mapped->descriptor, 0);
  if (mapped->base == MAP_FAILED) return system_error(fmt::format("mapping a buffer of {} bytes", mapped->bytes), errno);
  // Sealed only now: F_SEAL_WRITE is refused while a writable mapping exists, FUTURE_WRITE leaves the worker's own mapping alone.
  int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if (access == Buffer::Access::read_only) seals |= F_SEAL_FUTURE_WRITE;
  if (fcntl(mapped->descriptor, F_ADD_SEALS, seals) != 0) return system_error("sealing a buffer of the Solution", errno);
  auto* base = static_cast<uint8_t*>(mapped->base);
  populate(base, mapped->bytes);
  paint_red_zones(base, placement);
  const int descriptor = mapped->descriptor;
  return Buffer(descriptor, base, placement, std::move(mapped));
}

int64_t host_damage(const Buffer& buffer) {
  const runner::Placement& placement = buffer.placement();
  const uint8_t* base = buffer.base();
  for (uint64_t i = placement.offset; i > 0; --i)
    if (base[i - 1] != kRed) return static_cast<int64_t>(placement.offset - i + 1);
  const uint64_t end = placement.offset + placement.bytes;
  for (uint64_t i = end; i < placement.object_bytes; ++i)
    if (base[i] != kRed) return static_cast<int64_t>(i - end + 1);
  return -1;
}

}  // namespace whet
