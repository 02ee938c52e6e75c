// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "truth/gpu/device_work.h"
#include "truth/gpu/nvml.h"
#include "truth/judge/memory.h"

namespace whet {

// Tensors in a GPU's memory, in the worker's own context. Every function waits until the device has done what it was asked for: the other processes
// that map the memory know nothing of the worker's stream.
class GpuMemory final : public Memory {
 public:
  // `uuid`: of the same device, for NVML.
  static Expected<std::unique_ptr<GpuMemory>> open(int ordinal, const std::string& uuid);

  Expected<Buffer> lend(uint64_t bytes, Buffer::Access access, Buffer::Place place, uint64_t draw) override;
  Expected<Block> allocate(uint64_t bytes) override;
  Status health() const override { return health_; }
  void write(const InputGenerator& generator, const DrawKey& key, int64_t begin, int64_t end, uint8_t* data) override;
  void copy(uint8_t* to, const uint8_t* from, uint64_t bytes) override;
  void zero(uint8_t* to, uint64_t bytes) override;
  void from_host(uint8_t* to, const void* from, uint64_t bytes) override;
  std::vector<uint8_t> to_host(const uint8_t* from, uint64_t bytes) override;
  Magnitude magnitude_of(Dtype dtype, const uint8_t* want, int64_t count) override;
  Comparison compare(Dtype dtype, const uint8_t* got, const uint8_t* want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance, NanPolicy policy) override;
  int64_t equal_elements(Dtype dtype, const uint8_t* got, const uint8_t* other, int64_t count) override;
  void convert_expected(Dtype dtype, const uint8_t* want, int64_t count, uint8_t* out) override;
  uint64_t digest(const uint8_t* data, uint64_t bytes) override;
  uint64_t sample(const std::vector<Buffer>& tensors, uint64_t salt) override;
  int64_t damage(const Buffer& buffer) override;
  void zero_tail(Dtype dtype, uint8_t* data, const std::vector<int64_t>& shape, size_t axis) override;
  void round_down(Dtype dtype, uint8_t* data, int64_t count) override;
  void fill_with_mean(Dtype dtype, const uint8_t* from, int64_t count, uint8_t* to) override;
  void repeat(uint8_t* to, uint64_t bytes, const uint8_t* from, uint64_t period) override;
  uint64_t last_cache_bytes() const override { return work_->code().l2_bytes(); }
  bool seals() const override { return false; }
  std::string held_back() const override;
  // The runner flushes in its own context: a cache is a device's, but what lies in it by another context's doing is not for the worker to drop.
  void flush(const uint8_t*, uint64_t) override {}
  void touch(const uint8_t*, uint64_t) override {}

  const DeviceWork& device() const { return *work_; }

 private:
  GpuMemory() = default;
  void note(const Status& status);
  template <class T>
  T value_of(Expected<T> result, T otherwise);
  void finish(const Status& status);

  std::unique_ptr<DeviceWork> work_;
  std::optional<Nvml> nvml_;
  Status health_;
};

}  // namespace whet
