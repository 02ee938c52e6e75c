// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"

namespace whet {

// As the system reports it; a virtual machine may report nonsense (a level-3 cache of 508 MiB), so nothing may rely on the sizes.
struct CacheFacts {
  int level = 0;
  std::string type;  // Data, Instruction, Unified
  uint64_t bytes = 0;
  int line_bytes = 0;
  std::string shared_by;  // "0-1"
};

// What a CPU device is. Empty strings and zeros: not known here.
struct CpuFacts {
  std::string model, vendor;
  std::vector<int> cores;             // that this process may use
  int logical_cpus = 0;               // of the machine, online
  std::vector<std::string> siblings;  // of our cores: "0,4" for each pair of threads of one core
  bool smt = false;                   // two of our cores are one physical core
  std::vector<CacheFacts> caches;     // of our first core
  std::string governor;               // of our first core: performance, powersave, ...
  double mhz_now = 0, mhz_max = 0;
  std::string turbo;       // on, off
  std::string huge_pages;  // always, madvise, never
  std::string kernel;      // "6.18.44 #1 SMP ..."
  std::string glibc;
  std::vector<std::string> features;  // of the instruction set: those that matter for kernels
  std::string hypervisor;             // its name, "unknown" when there is one without a name, empty on bare metal
  uint64_t memory_bytes = 0;
  std::string openblas_coretype;  // as the caller was given it: OpenBLAS then chooses that kernel, whatever the chip is
  std::string flush_instruction;
};

// Reads below `root` ("/" but for tests): /proc/cpuinfo, /sys/devices/system/cpu, ...
CpuFacts describe_cpu(const std::string& openblas_coretype = "", const std::filesystem::path& root = "/");
Json to_json(const CpuFacts& facts);

// The OPENBLAS_CORETYPE whose kernels use what this instruction set has; empty without AVX2. OpenBLAS itself goes by the model, and gives one that is
// newer than itself the kernels of 2004: a baseline that is four times too slow.
std::string openblas_kernels_for(const std::vector<std::string>& features);

// The cores that this process may use, ascending.
std::vector<int> allowed_cores();

// "0-2,5" -> {0, 1, 2, 5}; what cannot be read is left out.
std::vector<int> parse_core_list(const std::string& text);

}  // namespace whet
