// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/definition.h"
#include "record/workload.h"
#include "truth/measure/compare.h"
#include "truth/measure/draw.h"
#include "truth/runner/buffer.h"

namespace whet {

// Memory of the worker's own, which no other process sees.
class Block {
 public:
  Block() = default;
  Block(uint8_t* data, uint64_t bytes, std::shared_ptr<void> keeper) : data_(data), bytes_(bytes), keeper_(std::move(keeper)) {}
  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  uint64_t bytes() const { return bytes_; }

 private:
  uint8_t* data_ = nullptr;
  uint64_t bytes_ = 0;
  std::shared_ptr<void> keeper_;
};

// Where the tensors of a judgement live, the host's memory or a GPU's, and the trusted work that is done on them there. Addresses are of that memory:
// nobody else may follow them. What is asked for has been done when a function returns.
class Memory {
 public:
  virtual ~Memory() = default;

  virtual Expected<Buffer> lend(uint64_t bytes, Buffer::Access access, Buffer::Place place, uint64_t draw) = 0;
  virtual Expected<Block> allocate(uint64_t bytes) = 0;
  // A device can fail at any time. The first failure stays, and all that was computed since is worth nothing: to be asked before a Verdict is made of it.
  virtual Status health() const = 0;

  // Elements [begin, end) of the tensor at `data`: same bits in every memory.
  virtual void write(const InputGenerator& generator, const DrawKey& key, int64_t begin, int64_t end, uint8_t* data) = 0;
  virtual void copy(uint8_t* to, const uint8_t* from, uint64_t bytes) = 0;
  // As copy(), for what nobody reads before it is flushed.
  virtual void fill(uint8_t* to, const uint8_t* from, uint64_t bytes) { copy(to, from, bytes); }
  virtual void zero(uint8_t* to, uint64_t bytes) = 0;
  virtual void from_host(uint8_t* to, const void* from, uint64_t bytes) = 0;
  virtual std::vector<uint8_t> to_host(const uint8_t* from, uint64_t bytes) = 0;

  // As the functions of these names in truth/measure/compare.h, sums in another order.
  virtual Magnitude magnitude_of(Dtype dtype, const uint8_t* want, int64_t count) = 0;
  virtual Comparison compare(Dtype dtype, const uint8_t* got, const uint8_t* want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance, NanPolicy policy) = 0;
  virtual int64_t equal_elements(Dtype dtype, const uint8_t* got, const uint8_t* other, int64_t count) = 0;
  virtual void convert_expected(Dtype dtype, const uint8_t* want, int64_t count, uint8_t* out) = 0;
  virtual uint64_t digest(const uint8_t* data, uint64_t bytes) = 0;
  // runner::sample() of one tensor after the other.
  virtual uint64_t sample(const std::vector<Buffer>& tensors, uint64_t salt) = 0;
  // As host_damage().
  virtual int64_t damage(const Buffer& buffer) = 0;

  // Of a device whose times are taken in another process; 0: the worker's clock is the only clock.
  virtual uint64_t last_cache_bytes() const { return 0; }
  // Whether what is lent for reading cannot be written by the one that it is lent to, whatever it does. Else inputs are digested before and after.
  virtual bool seals() const { return true; }

  // Why the device is slower now than it is meant to be, whoever runs on it: heat, a failing supply. Empty: it is not, or nobody knows. A limit on power that
  // is part of how it works is no such reason.
  virtual std::string held_back() const { return ""; }

  // As the functions of these names in truth/measure/mutation.h: same bits in every memory.
  virtual void zero_tail(Dtype dtype, uint8_t* data, const std::vector<int64_t>& shape, size_t axis) = 0;
  virtual void round_down(Dtype dtype, uint8_t* data, int64_t count) = 0;
  virtual void fill_with_mean(Dtype dtype, const uint8_t* from, int64_t count, uint8_t* to) = 0;
  virtual void repeat(uint8_t* to, uint64_t bytes, const uint8_t* from, uint64_t period) = 0;

  // Before a call: out of every cache, or read once. Nothing where the runner does it itself.
  virtual void flush(const uint8_t* data, uint64_t bytes) = 0;
  virtual void touch(const uint8_t* data, uint64_t bytes) = 0;
};

}  // namespace whet
