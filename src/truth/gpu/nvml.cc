// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/nvml.h"

#include <dlfcn.h>

namespace whet {
namespace {

struct Reason {
  uint64_t bit;
  const char* name;
  bool throttled;
};
constexpr Reason kReasons[] = {
    {0x1, "idle", false},           {0x2, "clock chosen by applications", false}, {0x4, "power cap", false},
    {0x8, "hardware slowdown", true}, {0x10, "sync boost", false},                  {0x20, "heat (software)", true},
    {0x40, "heat (hardware)", true}, {0x80, "power brake", true},                  {0x100, "display clock", false},
};

constexpr int kSm = 1, kMemory = 2;  // nvmlClockType_t

}  // namespace

// The C API, declared by ourselves; every function returns nvmlReturn_t, 0 is success. All but the first group may be missing.
struct Nvml::Library {
  int (*init)();
  const char* (*error_string)(int);
  int (*by_uuid)(const char*, void**);

  int (*driver_version)(char*, unsigned);
  int (*name)(void*, char*, unsigned);
  int (*minor)(void*, unsigned*);
  int (*clock)(void*, int, unsigned*);
  int (*max_clock)(void*, int, unsigned*);
  int (*power)(void*, unsigned*);        // milliwatts
  int (*power_limit)(void*, unsigned*);  // milliwatts
  int (*temperature)(void*, int sensor, unsigned*);
  int (*reasons)(void*, unsigned long long*);

  // -1 where the call is missing or refused.
  static int ask(int (*function)(void*, unsigned*), void* device) {
    unsigned number = 0;
    return function && function(device, &number) == 0 ? static_cast<int>(number) : -1;
  }
  static int ask(int (*function)(void*, int, unsigned*), void* device, int which) {
    unsigned number = 0;
    return function && function(device, which, &number) == 0 ? static_cast<int>(number) : -1;
  }
};

std::vector<std::string> reasons_named(uint64_t reasons) {
  std::vector<std::string> names;
  for (const Reason& reason : kReasons)
    if (reasons & reason.bit) names.emplace_back(reason.name);
  return names;
}

uint64_t throttling(uint64_t reasons) {
  uint64_t found = 0;
  for (const Reason& reason : kReasons)
    if (reason.throttled) found |= reasons & reason.bit;
  return found;
}

Expected<Nvml> Nvml::open(const std::string& uuid) {
  void* handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return machine_failed("clocks, power and heat are unknown: {}", dlerror());
  auto library = std::make_shared<Library>();
  const auto find = [&]<class Pointer>(Pointer& pointer, const char* name, const char* older = nullptr) {
    pointer = reinterpret_cast<Pointer>(dlsym(handle, name));
    if (!pointer && older) pointer = reinterpret_cast<Pointer>(dlsym(handle, older));
  };
  find(library->init, "nvmlInit_v2");
  find(library->error_string, "nvmlErrorString");
  find(library->by_uuid, "nvmlDeviceGetHandleByUUID");
  find(library->driver_version, "nvmlSystemGetDriverVersion");
  find(library->name, "nvmlDeviceGetName");
  find(library->minor, "nvmlDeviceGetMinorNumber");
  find(library->clock, "nvmlDeviceGetClockInfo");
  find(library->max_clock, "nvmlDeviceGetMaxClockInfo");
  find(library->power, "nvmlDeviceGetPowerUsage");
  find(library->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(library->temperature, "nvmlDeviceGetTemperature");
  find(library->reasons, "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons");
  if (!library->init || !library->error_string || !library->by_uuid) return machine_failed("clocks, power and heat are unknown: this libnvidia-ml.so.1 lacks nvmlInit_v2");
  const auto failed = [&](const char* call, int result) {
    return machine_failed("clocks, power and heat are unknown: {}: {}", call, library->error_string(result));
  };
  if (const int result = library->init(); result != 0) return failed("nvmlInit", result);
  Nvml nvml;
  if (const int result = library->by_uuid(uuid.c_str(), &nvml.device_); result != 0) return failed(("nvmlDeviceGetHandleByUUID " + uuid).c_str(), result);
  char text[96] = {};
  if (library->driver_version && library->driver_version(text, sizeof text) == 0) nvml.driver_version_ = text;
  if (library->name && library->name(nvml.device_, text, sizeof text) == 0) nvml.name_ = text;
  nvml.minor_ = Library::ask(library->minor, nvml.device_);
  nvml.library_ = std::move(library);
  return nvml;
}

uint64_t Nvml::reasons() const {
  unsigned long long reasons = 0;
  return library_ && library_->reasons && library_->reasons(device_, &reasons) == 0 ? reasons : 0;
}

GpuState Nvml::state() const {
  GpuState state;
  if (!library_) return state;
  state.sm_mhz = Library::ask(library_->clock, device_, kSm);
  state.memory_mhz = Library::ask(library_->clock, device_, kMemory);
  state.sm_mhz_max = Library::ask(library_->max_clock, device_, kSm);
  state.memory_mhz_max = Library::ask(library_->max_clock, device_, kMemory);
  if (const int milliwatts = Library::ask(library_->power, device_); milliwatts >= 0) state.watts = milliwatts / 1e3;
  if (const int milliwatts = Library::ask(library_->power_limit, device_); milliwatts >= 0) state.watts_limit = milliwatts / 1e3;
  state.celsius = Library::ask(library_->temperature, device_, 0);
  unsigned long long reasons = 0;
  state.reasons_known = library_->reasons && library_->reasons(device_, &reasons) == 0;
  state.reasons = reasons;
  return state;
}

}  // namespace whet
