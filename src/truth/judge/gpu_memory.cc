// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/gpu_memory.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/ranges.h>

namespace whet {
namespace {

cuda::Address address(const uint8_t* data) { return reinterpret_cast<cuda::Address>(data); }
uint8_t* pointer(cuda::Address address) { return reinterpret_cast<uint8_t*>(address); }

DeviceBuffer::Place place_of(Buffer::Place place) {
  switch (place) {
    case Buffer::Place::start: return DeviceBuffer::Place::start;
    case Buffer::Place::drawn: return DeviceBuffer::Place::drawn;
    case Buffer::Place::end: break;
  }
  return DeviceBuffer::Place::end;
}

}  // namespace

Expected<std::unique_ptr<GpuMemory>> GpuMemory::open(int ordinal, const std::string& uuid) {
  auto self = std::unique_ptr<GpuMemory>(new GpuMemory());
  WHET_TRY(self->work_, DeviceWork::open(ordinal));
  if (auto nvml = Nvml::open(uuid)) self->nvml_ = std::move(*nvml);
  return self;
}

std::string GpuMemory::held_back() const {
  const uint64_t reasons = nvml_ ? throttling(nvml_->reasons()) : 0;
  return reasons ? fmt::format("the GPU was slowed: {}", fmt::join(reasons_named(reasons), ", ")) : "";
}

void GpuMemory::note(const Status& status) {
  if (!status && health_) health_ = machine_failed("the judge's own work on the GPU failed: {}", status.error().what);
}

void GpuMemory::finish(const Status& status) {
  note(status);
  note(work_->synchronize());
}

template <class T>
T GpuMemory::value_of(Expected<T> result, T otherwise) {
  if (result) return std::move(*result);
  note(std::unexpected(std::move(result).error()));
  return otherwise;
}

Expected<Buffer> GpuMemory::lend(uint64_t bytes, Buffer::Access, Buffer::Place place, uint64_t draw) {
  WHET_TRY(DeviceBuffer made, work_->allocate(bytes, place_of(place), draw));
  WHET_OK(work_->synchronize());
  auto kept = std::make_shared<DeviceBuffer>(std::move(made));
  const DevicePlacement& at = kept->placement();
  return Buffer(kept->descriptor(), pointer(kept->base()), {at.object_bytes, at.offset, at.bytes}, kept);
}

Expected<Block> GpuMemory::allocate(uint64_t bytes) {
  WHET_TRY(DeviceBuffer made, DeviceBuffer::make(work_->code(), bytes, DeviceBuffer::Place::start, 0));
  auto kept = std::make_shared<DeviceBuffer>(std::move(made));
  return Block(pointer(kept->address()), bytes, kept);
}

void GpuMemory::write(const InputGenerator& generator, const DrawKey& key, int64_t begin, int64_t end, uint8_t* data) {
  finish(work_->write(generator, key, begin, end, address(data)));
}
void GpuMemory::copy(uint8_t* to, const uint8_t* from, uint64_t bytes) { finish(work_->copy(address(to), address(from), bytes)); }
void GpuMemory::zero(uint8_t* to, uint64_t bytes) { finish(work_->zero(address(to), bytes)); }
void GpuMemory::from_host(uint8_t* to, const void* from, uint64_t bytes) { finish(work_->write(address(to), {static_cast<const uint8_t*>(from), bytes})); }

std::vector<uint8_t> GpuMemory::to_host(const uint8_t* from, uint64_t bytes) { return value_of(work_->read(address(from), bytes), std::vector<uint8_t>(bytes)); }

Magnitude GpuMemory::magnitude_of(Dtype dtype, const uint8_t* want, int64_t count) { return value_of(work_->magnitude_of(dtype, address(want), count), Magnitude{}); }

Comparison GpuMemory::compare(Dtype dtype, const uint8_t* got, const uint8_t* want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance, NanPolicy policy) {
  Comparison nothing;
  nothing.passes = false;
  return value_of(work_->compare(dtype, address(got), address(want), magnitude, count, tolerance, policy), nothing);
}

int64_t GpuMemory::equal_elements(Dtype dtype, const uint8_t* got, const uint8_t* other, int64_t count) {
  return value_of(work_->equal_elements(dtype, address(got), address(other), count), int64_t{0});
}
void GpuMemory::convert_expected(Dtype dtype, const uint8_t* want, int64_t count, uint8_t* out) {
  finish(work_->convert_expected(dtype, address(want), count, address(out)));
}
uint64_t GpuMemory::digest(const uint8_t* data, uint64_t bytes) { return value_of(work_->digest(address(data), bytes), uint64_t{0}); }

uint64_t GpuMemory::sample(const std::vector<Buffer>& tensors, uint64_t salt) {
  std::vector<gpu::Range> ranges;
  for (const Buffer& tensor : tensors) ranges.push_back({address(tensor.data()), tensor.bytes()});
  return value_of(work_->sample(ranges, salt), uint64_t{0});
}

void GpuMemory::zero_tail(Dtype dtype, uint8_t* data, const std::vector<int64_t>& shape, size_t axis) { finish(work_->zero_tail(dtype, address(data), shape, axis)); }
void GpuMemory::round_down(Dtype dtype, uint8_t* data, int64_t count) { finish(work_->round_down(dtype, address(data), count)); }
void GpuMemory::fill_with_mean(Dtype dtype, const uint8_t* from, int64_t count, uint8_t* to) { finish(work_->fill_with_mean(dtype, address(from), count, address(to))); }
void GpuMemory::repeat(uint8_t* to, uint64_t bytes, const uint8_t* from, uint64_t period) { finish(work_->repeat(address(to), bytes, address(from), period)); }

int64_t GpuMemory::damage(const Buffer& buffer) {
  const auto* lent = static_cast<const DeviceBuffer*>(buffer.keeper());
  const auto found = value_of(work_->damage(std::span(&lent, 1)), std::vector<int64_t>{-1});
  return found.front();
}

}  // namespace whet
