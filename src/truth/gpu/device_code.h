// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "truth/gpu/driver.h"

namespace whet {

// The functions of device_code.cu, device_checks.cu and device_mutants.cu, in the order of kKernelNames.
enum class Kernel {
  normal_1, normal_2, normal_4, normal_8, elements, plant, fill, flush, touch, block, empty,
  compare, compare_exact, compare_reduce, magnitude, magnitude_reduce, equal, digest, sum, convert, sample, red_zones, zero_tail, repeat, round_down, lane_sums, lanes_reduce
};
constexpr int kKernels = static_cast<int>(Kernel::lanes_reduce) + 1;

// Whether this program carries device code at all; the error says that it was built without CUDA.
Status device_code();

// The primary context of one device (the one that the CUDA run time uses too) with our code loaded in it. One per process and device; a context
// is current per thread, so callers from another thread call make_current() first.
class DeviceCode {
 public:
  static Expected<std::unique_ptr<DeviceCode>> open(int ordinal);
  ~DeviceCode();
  DeviceCode(const DeviceCode&) = delete;
  DeviceCode& operator=(const DeviceCode&) = delete;

  const cuda::Driver& driver() const { return *driver_; }
  int ordinal() const { return ordinal_; }
  int multiprocessors() const { return multiprocessors_; }
  uint64_t l2_bytes() const { return l2_bytes_; }
  uint64_t granularity() const { return granularity_; }  // of allocations that can be lent
  Status make_current() const;

  // Queues one launch. `arguments` is the one struct that the function takes (device_arguments.h), null for none.
  Status launch(Kernel kernel, unsigned blocks, unsigned rows, unsigned threads, const void* arguments, cuda::Stream stream) const;
  // As many blocks of 256 threads as `units` of work fill, at most `waves` of 8 per multiprocessor.
  unsigned blocks_for(int64_t units, unsigned waves = 1) const;

 private:
  DeviceCode() = default;

  const cuda::Driver* driver_ = nullptr;
  int ordinal_ = 0;
  cuda::Device device_ = 0;
  cuda::Context context_ = nullptr;
  std::vector<cuda::Module> modules_;
  cuda::Function functions_[kKernels] = {};
  int multiprocessors_ = 0;
  uint64_t l2_bytes_ = 0, granularity_ = 0;
};

// Memory of the host that the device sees, page-locked.
class PinnedMemory {
 public:
  static Expected<PinnedMemory> make(const cuda::Driver& driver, size_t bytes);
  PinnedMemory() = default;
  PinnedMemory(PinnedMemory&& other) noexcept;
  PinnedMemory& operator=(PinnedMemory&& other) noexcept;
  ~PinnedMemory();

  void* data() const { return data_; }
  cuda::Address address() const { return address_; }

 private:
  const cuda::Driver* driver_ = nullptr;
  void* data_ = nullptr;
  cuda::Address address_ = 0;
};

}  // namespace whet
