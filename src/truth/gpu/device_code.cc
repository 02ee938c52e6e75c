// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/device_code.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/embedded.h"

namespace whet {
namespace {

constexpr const char* kKernelNames[] = {
    "whet_normal_1", "whet_normal_2", "whet_normal_4", "whet_normal_8", "whet_elements", "whet_plant", "whet_fill", "whet_flush", "whet_touch", "whet_block", "whet_empty",
    "whet_compare", "whet_compare_exact", "whet_compare_reduce", "whet_magnitude", "whet_magnitude_reduce", "whet_equal", "whet_digest", "whet_sum", "whet_convert", "whet_sample", "whet_red_zones",
    "whet_zero_tail", "whet_repeat", "whet_round_down", "whet_lane_sums", "whet_lanes_reduce"};
static_assert(std::size(kKernelNames) == kKernels);

}  // namespace

Status device_code() {
  if (embedded_device_code().empty())
    return machine_failed("this whet-worker was built without CUDA and cannot judge on a GPU: build it where nvcc is (with -DWHET_CUDA=ON), and copy it here");
  return {};
}

Expected<std::unique_ptr<DeviceCode>> DeviceCode::open(int ordinal) {
  WHET_OK(device_code());
  auto self = std::unique_ptr<DeviceCode>(new DeviceCode());
  WHET_TRY(self->driver_, cuda::driver());
  const cuda::Driver& driver = *self->driver_;
  self->ordinal_ = ordinal;
  WHET_OK(driver.check(driver.device_get(&self->device_, ordinal), fmt::format("opening GPU {}", ordinal)));
  // Whoever waits for the device spins: being woken costs tens of microseconds. Refused (and then as it is) where the context is already in use.
  (void)driver.primary_flags(self->device_, cuda::kScheduleSpin);
  WHET_OK(driver.check(driver.primary_retain(&self->context_, self->device_), fmt::format("making a context on GPU {}", ordinal)));
  WHET_OK(self->make_current());
  for (const EmbeddedFile& file : embedded_device_code()) {
    std::vector<uint64_t> image((file.contents.size() + 7) / 8);  // a fatbin is read as words of 64 bits
    std::memcpy(image.data(), file.contents.data(), file.contents.size());
    cuda::Module module = nullptr;
    WHET_OK(driver.check(driver.module_load(&module, image.data()), fmt::format("loading the judge's own device code ({})", file.path)));
    self->modules_.push_back(module);
  }
  for (int i = 0; i < kKernels; ++i) {
    for (cuda::Module module : self->modules_)
      if (driver.module_function(&self->functions_[i], module, kKernelNames[i]) == cuda::kSuccess) break;
    if (!self->functions_[i]) return machine_failed("the judge's own device code lacks {}", kKernelNames[i]);
  }
  int l2 = 0;
  WHET_OK(driver.check(driver.device_attribute(&self->multiprocessors_, cuda::kMultiprocessors, self->device_), "counting multiprocessors"));
  WHET_OK(driver.check(driver.device_attribute(&l2, cuda::kL2Bytes, self->device_), "reading the size of the last cache"));
  self->l2_bytes_ = static_cast<uint64_t>(l2);
  cuda::AllocationProperties properties;
  properties.location.id = ordinal;
  size_t granularity = 0;
  WHET_OK(driver.check(driver.granularity(&granularity, &properties, cuda::kGranularityMinimum), "asking for the granularity of device memory"));
  self->granularity_ = granularity;
  return self;
}

DeviceCode::~DeviceCode() {
  if (!context_) return;
  (void)driver_->set_current(context_);
  for (cuda::Module module : modules_) (void)driver_->module_unload(module);
  (void)driver_->primary_release(device_);
}

Status DeviceCode::make_current() const { return driver_->check(driver_->set_current(context_), "making a CUDA context current"); }

Status DeviceCode::launch(Kernel kernel, unsigned blocks, unsigned rows, unsigned threads, const void* arguments, cuda::Stream stream) const {
  const auto index = static_cast<size_t>(kernel);
  void* parameters[] = {const_cast<void*>(arguments)};
  const cuda::Result result = driver_->launch(functions_[index], blocks, rows, 1, threads, 1, 1, 0, stream, arguments ? parameters : nullptr, nullptr);
  if (result == cuda::kSuccess) return {};
  return driver_->check(result, kKernelNames[index]);
}

unsigned DeviceCode::blocks_for(int64_t units, unsigned waves) const {
  const int64_t most = int64_t{8} * waves * std::max(1, multiprocessors_);
  return static_cast<unsigned>(std::clamp<int64_t>((units + 255) / 256, 1, most));
}

Expected<PinnedMemory> PinnedMemory::make(const cuda::Driver& driver, size_t bytes) {
  PinnedMemory memory;
  memory.driver_ = &driver;
  WHET_OK(driver.check(driver.host_allocate(&memory.data_, bytes, cuda::kHostPortable | cuda::kHostMapped), fmt::format("page-locking {} bytes of the host", bytes)));
  WHET_OK(driver.check(driver.host_address(&memory.address_, memory.data_, 0), "asking for the device's address of host memory"));
  std::memset(memory.data_, 0, bytes);
  return memory;
}

PinnedMemory::PinnedMemory(PinnedMemory&& other) noexcept { *this = std::move(other); }

PinnedMemory& PinnedMemory::operator=(PinnedMemory&& other) noexcept {
  std::swap(driver_, other.driver_);
  std::swap(data_, other.data_);
  std::swap(address_, other.address_);
  return *this;
}

PinnedMemory::~PinnedMemory() {
  if (data_) (void)driver_->host_free(data_);
}

}  // namespace whet
