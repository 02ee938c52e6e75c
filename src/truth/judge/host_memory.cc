// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/host_memory.h"

#include <cstdlib>
#include <cstring>

#include "base/halves.h"
#include "truth/machine/flush.h"
#include "truth/measure/mutation.h"
#include "truth/runner/protocol.h"

namespace whet {
namespace {

constexpr int64_t kLine = 64, kWorthAThread = 512 << 10;  // bytes

}  // namespace

Expected<Buffer> HostMemory::lend(uint64_t bytes, Buffer::Access access, Buffer::Place place, uint64_t draw) { return lend_host_memory(bytes, access, place, draw); }

Expected<Block> HostMemory::allocate(uint64_t bytes) {
  // Not zeroed: it is written as a whole before it is read.
  std::shared_ptr<void> memory(std::malloc(bytes ? bytes : 1), std::free);
  if (!memory) return machine_failed("no memory for {} bytes of the judge's own", bytes);
  auto* data = static_cast<uint8_t*>(memory.get());
  return Block(data, bytes, std::move(memory));
}

// Generation is a large part of the judge's own time.
void HostMemory::write(const InputGenerator& generator, const DrawKey& key, int64_t begin, int64_t end, uint8_t* data) {
  if (begin != 0 || !generator.separable()) return generator.write(key, begin, end, data);
  in_halves(end, 1024, 1 << 17, [&](int64_t from, int64_t to) { generator.write(key, from, to, data); });
}

void HostMemory::copy(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  in_halves(static_cast<int64_t>(bytes), kLine, kWorthAThread, [&](int64_t begin, int64_t end) { std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin)); });
}

void HostMemory::fill(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  in_halves(static_cast<int64_t>(bytes), kLine, kWorthAThread, [&](int64_t begin, int64_t end) { copy_past_caches(to + begin, from + begin, static_cast<size_t>(end - begin)); });
}

void HostMemory::zero(uint8_t* to, uint64_t bytes) {
  in_halves(static_cast<int64_t>(bytes), kLine, kWorthAThread, [&](int64_t begin, int64_t end) { std::memset(to + begin, 0, static_cast<size_t>(end - begin)); });
}

void HostMemory::from_host(uint8_t* to, const void* from, uint64_t bytes) { std::memcpy(to, from, bytes); }
std::vector<uint8_t> HostMemory::to_host(const uint8_t* from, uint64_t bytes) { return {from, from + bytes}; }

Magnitude HostMemory::magnitude_of(Dtype dtype, const uint8_t* want, int64_t count) { return whet::magnitude_of(dtype, want, count); }

Comparison HostMemory::compare(Dtype dtype, const uint8_t* got, const uint8_t* want, const Magnitude& magnitude, int64_t count, const Tolerance& tolerance, NanPolicy policy) {
  return whet::compare(dtype, got, want, magnitude, count, tolerance, policy);
}

int64_t HostMemory::equal_elements(Dtype dtype, const uint8_t* got, const uint8_t* other, int64_t count) { return whet::equal_elements(dtype, got, other, count); }
void HostMemory::convert_expected(Dtype dtype, const uint8_t* want, int64_t count, uint8_t* out) { whet::convert_expected(dtype, want, count, out); }
uint64_t HostMemory::digest(const uint8_t* data, uint64_t bytes) { return whet::digest(data, bytes); }

uint64_t HostMemory::sample(const std::vector<Buffer>& tensors, uint64_t salt) {
  uint64_t state = 0;
  for (const Buffer& tensor : tensors) state = runner::sample(state, tensor.data(), tensor.bytes(), salt);
  return state;
}

int64_t HostMemory::damage(const Buffer& buffer) { return host_damage(buffer); }

void HostMemory::zero_tail(Dtype dtype, uint8_t* data, const std::vector<int64_t>& shape, size_t axis) { whet::zero_tail(dtype, data, shape, axis); }
void HostMemory::round_down(Dtype dtype, uint8_t* data, int64_t count) { whet::round_down(dtype, data, count); }

void HostMemory::fill_with_mean(Dtype dtype, const uint8_t* from, int64_t count, uint8_t* to) { whet::fill_with_mean(dtype, from, count, to); }
void HostMemory::repeat(uint8_t* to, uint64_t bytes, const uint8_t* from, uint64_t period) { whet::repeat(to, bytes, from, period); }

void HostMemory::flush(const uint8_t* data, uint64_t bytes) {
  in_halves(static_cast<int64_t>(bytes), kLine, kWorthAThread, [&](int64_t begin, int64_t end) { whet::flush(data + begin, static_cast<size_t>(end - begin)); });
}

void HostMemory::touch(const uint8_t* data, uint64_t bytes) {
  const volatile uint8_t* p = data;
  uint8_t sum = 0;
  for (uint64_t i = 0; i < bytes; i += 64) sum = static_cast<uint8_t>(sum + p[i]);
  static volatile uint8_t sink;
  sink = sum;
  (void)sink;
}

}  // namespace whet
