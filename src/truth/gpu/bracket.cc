// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/bracket.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

namespace whet {
namespace {

constexpr unsigned kThreads = 256;
constexpr uint64_t kLeastRegion = uint64_t{64} << 20;

}  // namespace

Expected<Bracket> Bracket::make(const DeviceCode& code, cuda::Stream stream) {
  const cuda::Driver& driver = code.driver();
  Bracket bracket;
  bracket.code_ = &code;
  bracket.stream_ = stream;
  WHET_TRY(bracket.host_, PinnedMemory::make(driver, sizeof(Words)));
  bracket.region_bytes_ = std::max(kLeastRegion, 4 * code.l2_bytes());
  WHET_OK(driver.check(driver.allocate(&bracket.region_, bracket.region_bytes_), "allocating the region that flushes the last cache"));
  WHET_OK(driver.check(driver.event_create(&bracket.begin_, cuda::kEventDefault), "making an event"));
  WHET_OK(driver.check(driver.event_create(&bracket.end_, cuda::kEventDefault), "making an event"));
  WHET_OK(bracket.forbid_persisting());
  return bracket;
}

Bracket::Bracket(Bracket&& other) noexcept { *this = std::move(other); }

Bracket& Bracket::operator=(Bracket&& other) noexcept {
  std::swap(code_, other.code_);
  std::swap(stream_, other.stream_);
  std::swap(host_, other.host_);
  std::swap(region_, other.region_);
  std::swap(region_bytes_, other.region_bytes_);
  std::swap(begin_, other.begin_);
  std::swap(end_, other.end_);
  std::swap(sequence_, other.sequence_);
  return *this;
}

Bracket::~Bracket() {
  if (!code_) return;
  if (begin_) (void)code_->driver().event_destroy(begin_);
  if (end_) (void)code_->driver().event_destroy(end_);
  if (region_) (void)code_->driver().free(region_);
}

Status Bracket::flush() {
  // Lines that stay marked would survive. Not every device has them.
  (void)code_->driver().reset_persisting_l2();
  const gpu::FlushArguments arguments{region_, static_cast<int64_t>(region_bytes_ / 16)};
  return code_->launch(Kernel::flush, code_->blocks_for(arguments.count), 1, kThreads, &arguments, stream_);
}

Status Bracket::touch(std::span<const gpu::Range> ranges) {
  gpu::RangesArguments arguments = {};
  while (!ranges.empty()) {
    const size_t count = std::min<size_t>(ranges.size(), gpu::kMostRanges);
    std::copy_n(ranges.begin(), count, arguments.ranges);
    arguments.count = static_cast<int32_t>(count);
    arguments.result = address_of(offsetof(Words, sink));
    WHET_OK(code_->launch(Kernel::touch, static_cast<unsigned>(2 * std::max(1, code_->multiprocessors())), static_cast<unsigned>(count), kThreads, &arguments, stream_));
    ranges = ranges.subspan(count);
  }
  return {};
}

Status Bracket::block(uint64_t limit_ns) {
  const gpu::BlockArguments arguments{address_of(offsetof(Words, block)), ++sequence_, 0, limit_ns};
  return code_->launch(Kernel::block, 1, 1, 1, &arguments, stream_);
}

void Bracket::release() {
  std::atomic_ref(words()->block.release).store(sequence_, std::memory_order_release);
}

Status Bracket::begin() { return code_->driver().check(code_->driver().event_record(begin_, stream_), "recording an event"); }
Status Bracket::end() { return code_->driver().check(code_->driver().event_record(end_, stream_), "recording an event"); }

Status Bracket::sample(std::span<const gpu::Range> tensors, uint64_t salt) {
  gpu::SampleArguments arguments = {};
  const size_t count = std::min<size_t>(tensors.size(), gpu::kMostRanges);
  std::copy_n(tensors.begin(), count, arguments.ranges);
  arguments.result = address_of(offsetof(Words, sampled)), arguments.salt = salt, arguments.count = static_cast<int32_t>(count);
  return code_->launch(Kernel::sample, 1, 1, 32, &arguments, stream_);
}

cuda::Result Bracket::finish() { return code_->driver().stream_synchronize(stream_); }

double Bracket::device_ns() const {
  float milliseconds = 0;
  return code_->driver().event_elapsed(&milliseconds, begin_, end_) == cuda::kSuccess ? static_cast<double>(milliseconds) * 1e6 : -1;
}

uint64_t Bracket::sampled() const { return std::atomic_ref(words()->sampled).load(std::memory_order_acquire); }
bool Bracket::gave_up() const { return std::atomic_ref(words()->block.gave_up).load(std::memory_order_acquire) == sequence_ && sequence_ != 0; }

double Bracket::clock_mhz() const {
  const gpu::BlockWord& word = words()->block;
  return word.ns > 2000 ? static_cast<double>(word.clocks) * 1e3 / static_cast<double>(word.ns) : 0;
}

Status Bracket::forbid_persisting() const {
  const cuda::Result result = code_->driver().set_limit(cuda::kLimitPersistingL2, 0);
  return result == cuda::kErrorUnsupportedLimit ? Status{} : code_->driver().check(result, "taking away the carve-out for persisting lines");
}

uint64_t Bracket::persisting_bytes() const {
  size_t bytes = 0;
  return code_->driver().get_limit(&bytes, cuda::kLimitPersistingL2) == cuda::kSuccess ? bytes : 0;
}

}  // namespace whet
