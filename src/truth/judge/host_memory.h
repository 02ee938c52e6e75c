// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "truth/judge/memory.h"

namespace whet {

// Tensors in the host's memory. Large work is done in two halves at a time (base/halves.h).
class HostMemory final : public Memory {
 public:
  Expected<Buffer> lend(uint64_t bytes, Buffer::Access access, Buffer::Place place, uint64_t draw) override;
  Expected<Block> allocate(uint64_t bytes) override;
  Status health() const override { return {}; }
  void write(const InputGenerator& generator, const DrawKey& key, int64_t begin, int64_t end, uint8_t* data) override;
  void copy(uint8_t* to, const uint8_t* from, uint64_t bytes) override;
  void fill(uint8_t* to, const uint8_t* from, uint64_t bytes) override;
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
  void flush(const uint8_t* data, uint64_t bytes) override;
  void touch(const uint8_t* data, uint64_t bytes) override;
};

}  // namespace whet
