// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/gpu_facts.h"

#include "base/json_impl.h"
#include "truth/gpu/driver.h"

namespace whet {
namespace {

std::string uuid_text(const cuda::Uuid& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid.bytes[i]);
  }
  return text;
}

Expected<GpuFacts> describe(const cuda::Driver& driver, int ordinal) {
  GpuFacts facts;
  facts.ordinal = ordinal;
  cuda::Device device = 0;
  WHET_OK(driver.check(driver.device_get(&device, ordinal), fmt::format("opening GPU {}", ordinal)));
  char name[256] = {};
  if (driver.device_name(name, sizeof name, device) == cuda::kSuccess) facts.name = name;
  cuda::Uuid uuid = {};
  WHET_OK(driver.check(driver.device_uuid(&uuid, device), "reading the UUID of a GPU"));
  facts.uuid = uuid_text(uuid);
  size_t bytes = 0;
  if (driver.device_memory(&bytes, device) == cuda::kSuccess) facts.memory_bytes = bytes;
  const auto number = [&](int attribute) {
    int value = 0;
    return driver.device_attribute(&value, attribute, device) == cuda::kSuccess ? value : 0;
  };
  facts.compute_major = number(cuda::kComputeMajor);
  facts.compute_minor = number(cuda::kComputeMinor);
  facts.multiprocessors = number(cuda::kMultiprocessors);
  facts.l2_bytes = static_cast<uint64_t>(number(cuda::kL2Bytes));
  facts.max_persisting_l2_bytes = static_cast<uint64_t>(number(cuda::kMaxPersistingL2));
  facts.memory_bus_bits = number(cuda::kMemoryBusBits);
  facts.clock_mhz = number(cuda::kClockKhz) / 1000;
  facts.memory_clock_mhz = number(cuda::kMemoryClockKhz) / 1000;
  facts.registers_per_multiprocessor = number(cuda::kRegistersPerMultiprocessor);
  facts.shared_bytes_per_multiprocessor = number(cuda::kSharedPerMultiprocessor);
  facts.shared_bytes_per_block = number(cuda::kSharedPerBlockOptIn);
  facts.threads_per_multiprocessor = number(cuda::kThreadsPerMultiprocessor);
  facts.ecc = number(cuda::kEccEnabled) != 0;
  facts.lends_memory = number(cuda::kVirtualMemory) != 0 && number(cuda::kPosixHandles) != 0;
  (void)driver.driver_version(&facts.cuda_version);
  facts.driver_library = driver.library;
  if (const auto nvml = Nvml::open(facts.uuid)) {
    facts.driver_version = nvml->driver_version();
    facts.state = nvml->state();
  } else {
    facts.nvml_missing = nvml.error().what;
  }
  return facts;
}

}  // namespace

Expected<std::vector<GpuFacts>> describe_gpus() {
  WHET_TRY(const cuda::Driver* driver, cuda::driver());
  int count = 0;
  WHET_OK(driver->check(driver->device_count(&count), "counting the GPUs"));
  std::vector<GpuFacts> all;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    WHET_TRY(GpuFacts facts, describe(*driver, ordinal));
    all.push_back(std::move(facts));
  }
  return all;
}

Json to_json(const GpuState& state) {
  Json json = {{"sm_mhz", state.sm_mhz},
               {"memory_mhz", state.memory_mhz},
               {"sm_mhz_max", state.sm_mhz_max},
               {"memory_mhz_max", state.memory_mhz_max},
               {"watts", json_double(state.watts)},
               {"watts_limit", json_double(state.watts_limit)},
               {"celsius", state.celsius}};
  json["slowed_by"] = state.reasons_known ? Json(reasons_named(state.reasons)) : Json(nullptr);
  return json;
}

Json to_json(const GpuFacts& facts) {
  return Json{{"ordinal", facts.ordinal},
              {"name", facts.name},
              {"uuid", facts.uuid},
              {"compute_capability", fmt::format("{}.{}", facts.compute_major, facts.compute_minor)},
              {"multiprocessors", facts.multiprocessors},
              {"l2_bytes", facts.l2_bytes},
              {"max_persisting_l2_bytes", facts.max_persisting_l2_bytes},
              {"memory_bytes", facts.memory_bytes},
              {"memory_bus_bits", facts.memory_bus_bits},
              {"clock_mhz", facts.clock_mhz},
              {"memory_clock_mhz", facts.memory_clock_mhz},
              {"registers_per_multiprocessor", facts.registers_per_multiprocessor},
              {"shared_bytes_per_multiprocessor", facts.shared_bytes_per_multiprocessor},
              {"shared_bytes_per_block", facts.shared_bytes_per_block},
              {"threads_per_multiprocessor", facts.threads_per_multiprocessor},
              {"ecc", facts.ecc},
              {"lends_memory", facts.lends_memory},
              {"cuda_version", fmt::format("{}.{}", facts.cuda_version / 1000, facts.cuda_version % 1000 / 10)},
              {"driver_version", facts.driver_version},
              {"driver_library", facts.driver_library},
              {"nvml_missing", facts.nvml_missing},
              {"state", to_json(facts.state)}};
}

}  // namespace whet
