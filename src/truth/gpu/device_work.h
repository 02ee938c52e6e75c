// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "truth/gpu/device_arguments.h"
#include "truth/gpu/device_code.h"
#include "truth/gpu/device_memory.h"
#include "truth/measure/compare.h"
#include "truth/measure/draw.h"

namespace whet {

// What the judge does with memory, done on a device: the functions of truth/measure with device addresses in place of pointers, and the same
// results. One per worker and device; not thread-safe. Work is queued on a stream of its own; what returns a value waits for it, and
// synchronize() waits for the rest, which the caller owes before another process may look at the memory. Addresses of tensors are aligned to 64
// bytes. An error means that the worker's own context is broken (a machine failure): no Solution runs in it.
class DeviceWork {
 public:
  static Expected<std::unique_ptr<DeviceWork>> open(int ordinal);
  ~DeviceWork();

  const DeviceCode& code() const { return *code_; }
  // An allocation to lend, its red zones painted, its tensor not yet written.
  Expected<DeviceBuffer> allocate(uint64_t bytes, DeviceBuffer::Place place, uint64_t draw);

  // InputGenerator::write. Recipes that are not element by element are drawn on the host and copied.
  Status write(const InputGenerator& generator, const DrawKey& key, int64_t begin, int64_t end, cuda::Address data);
  Status write(cuda::Address data, std::span<const uint8_t> bytes);
  Expected<std::vector<uint8_t>> read(cuda::Address data, uint64_t bytes);
  Status copy(cuda::Address to, cuda::Address from, uint64_t bytes);
  Status zero(cuda::Address data, uint64_t bytes);

  // As in compare.h.
  Expected<Magnitude> magnitude_of(Dtype dtype, cuda::Address want, int64_t count);
  Expected<Comparison> compare(Dtype dtype, cuda::Address got, cuda::Address want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance, NanPolicy policy);
  Expected<int64_t> equal_elements(Dtype dtype, cuda::Address got, cuda::Address other, int64_t count);
  Status convert_expected(Dtype dtype, cuda::Address want, int64_t count, cuda::Address out);
  // Another digest than whet::digest: device_digest() below, on the device.
  Expected<uint64_t> digest(cuda::Address data, uint64_t bytes);
  // runner::sample of the tensors, one after the other.
  Expected<uint64_t> sample(std::span<const gpu::Range> tensors, uint64_t salt);

  // As in mutation.h.
  Status zero_tail(Dtype dtype, cuda::Address data, const std::vector<int64_t>& shape, size_t axis);
  Status round_down(Dtype dtype, cuda::Address data, int64_t count);
  Status fill_with_mean(Dtype dtype, cuda::Address from, int64_t count, cuda::Address to);
  Status repeat(cuda::Address to, uint64_t bytes, cuda::Address from, uint64_t period);

  Status paint_red_zones(const DeviceBuffer& buffer);
  // Of each buffer as Buffer::damage(): -1, or the distance in bytes of the nearest damaged byte from the tensor.
  Expected<std::vector<int64_t>> damage(std::span<const DeviceBuffer* const> buffers);

  Status synchronize();

 private:
  DeviceWork() = default;
  Expected<cuda::Address> table_of(const InputGenerator& generator);
  Status generate(const InputGenerator& generator, const gpu::Key& key, int64_t begin, int64_t end, cuda::Address data);
  Status plant(const InputGenerator& generator, const gpu::Key& key, int64_t begin, int64_t end, cuda::Address data);
  Expected<uint64_t> sum_of_parts(unsigned blocks);
  Status damage_of(std::span<const DeviceBuffer* const> buffers, std::vector<int64_t>& distances);

  std::unique_ptr<DeviceCode> code_;
  const cuda::Driver* driver_ = nullptr;
  cuda::Stream stream_ = nullptr;
  cuda::Address parts_ = 0;   // a result of each block, or a sum of each lane
  PinnedMemory result_;         // the final one, seen by the host
  std::map<std::pair<Dtype, uint64_t>, cuda::Address> tables_;  // quantiles by dtype and bits of the scale
};

// What DeviceWork::digest() computes, on the host.
uint64_t device_digest(const void* data, uint64_t bytes);

}  // namespace whet
