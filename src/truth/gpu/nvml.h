// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"

namespace whet {

// What a GPU is doing now, by NVML. A negative number: NVML does not tell on this machine.
struct GpuState {
  int sm_mhz = -1, memory_mhz = -1;
  int sm_mhz_max = -1, memory_mhz_max = -1;
  double watts = -1, watts_limit = -1;
  int celsius = -1;
  bool reasons_known = false;
  uint64_t reasons = 0;  // bits of nvmlClocksEventReasons: why the clocks are not higher
};

std::vector<std::string> reasons_named(uint64_t reasons);
// Those of them that make a sample worthless: slowdown for heat or by hardware. Not idle, not a clock that somebody chose, and not the power cap: under matrix
// work it is how this device works, and hits whoever does that work; its clocks are compared call by call instead.
uint64_t throttling(uint64_t reasons);

// One GPU through NVML (libnvidia-ml.so.1, loaded at first use). A machine without NVML is judged too: its clocks are then unknown, and the
// Evaluation says why.
class Nvml {
 public:
  // `uuid` as CUDA and nvidia-smi write it: "GPU-...".
  static Expected<Nvml> open(const std::string& uuid);

  GpuState state() const;
  uint64_t reasons() const;  // as in GpuState; 0: none, or not known
  const std::string& name() const { return name_; }
  const std::string& driver_version() const { return driver_version_; }  // "580.95.05"
  // N of /dev/nvidiaN; -1 unknown.
  int minor() const { return minor_; }

 private:
  struct Library;
  std::shared_ptr<const Library> library_;
  void* device_ = nullptr;
  std::string name_, driver_version_;
  int minor_ = -1;
};

}  // namespace whet
