// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "truth/gpu/nvml.h"

namespace whet {

// What a GPU device is. Zeros and empty strings: not known here.
struct GpuFacts {
  int ordinal = 0;  // among the devices that CUDA shows to this process
  std::string name;
  std::string uuid;  // "GPU-..."
  int compute_major = 0, compute_minor = 0;
  int multiprocessors = 0;
  uint64_t l2_bytes = 0, max_persisting_l2_bytes = 0;
  uint64_t memory_bytes = 0;
  int memory_bus_bits = 0;
  int clock_mhz = 0, memory_clock_mhz = 0;  // as CUDA reports them: the highest
  int registers_per_multiprocessor = 0, shared_bytes_per_multiprocessor = 0, shared_bytes_per_block = 0, threads_per_multiprocessor = 0;
  bool ecc = false;
  bool lends_memory = false;    // VMM allocations that can be passed on as file descriptors
  int cuda_version = 0;         // of the driver: 13000 is 13.0
  std::string driver_version;   // by NVML
  std::string driver_library;
  std::string nvml_missing;     // why clocks are unknown; empty: they are known
  GpuState state;               // when this was read
};

// All devices that this process may use. An error when there is none.
Expected<std::vector<GpuFacts>> describe_gpus();
Json to_json(const GpuState& state);
Json to_json(const GpuFacts& facts);

}  // namespace whet
