// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cctype>
#include <filesystem>
#include <initializer_list>

namespace whet::cuda {
namespace {

namespace fs = std::filesystem;

// Collects what a library lacks; of several names the first that exists is taken.
class Symbols {
 public:
  explicit Symbols(void* library) : library_(library) {}

  template <class Pointer>
  void find(Pointer& pointer, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (void* found = dlsym(library_, name)) {
        pointer = reinterpret_cast<Pointer>(found);
        return;
      }
    missing_ += (missing_.empty() ? "" : ", ") + std::string(*names.begin());
  }
  const std::string& missing() const { return missing_; }

 private:
  void* library_;
  std::string missing_;
};

void find_contexts(Symbols& symbols, Driver& driver) {
  symbols.find(driver.init, {"cuInit"});
  symbols.find(driver.get_error_name, {"cuGetErrorName"});
  symbols.find(driver.get_error_string, {"cuGetErrorString"});
  symbols.find(driver.driver_version, {"cuDriverGetVersion"});
  symbols.find(driver.device_count, {"cuDeviceGetCount"});
  symbols.find(driver.device_get, {"cuDeviceGet"});
  symbols.find(driver.device_name, {"cuDeviceGetName"});
  symbols.find(driver.device_uuid, {"cuDeviceGetUuid_v2", "cuDeviceGetUuid"});
  symbols.find(driver.device_memory, {"cuDeviceTotalMem_v2"});
  symbols.find(driver.device_attribute, {"cuDeviceGetAttribute"});
  symbols.find(driver.primary_retain, {"cuDevicePrimaryCtxRetain"});
  symbols.find(driver.primary_release, {"cuDevicePrimaryCtxRelease_v2"});
  symbols.find(driver.primary_flags, {"cuDevicePrimaryCtxSetFlags_v2"});
  symbols.find(driver.set_current, {"cuCtxSetCurrent"});
  symbols.find(driver.synchronize, {"cuCtxSynchronize"});
  symbols.find(driver.get_limit, {"cuCtxGetLimit"});
  symbols.find(driver.set_limit, {"cuCtxSetLimit"});
  symbols.find(driver.reset_persisting_l2, {"cuCtxResetPersistingL2Cache"});
}

void find_work(Symbols& symbols, Driver& driver) {
  symbols.find(driver.module_load, {"cuModuleLoadData"});
  symbols.find(driver.module_unload, {"cuModuleUnload"});
  symbols.find(driver.module_function, {"cuModuleGetFunction"});
  symbols.find(driver.function_attribute, {"cuFuncGetAttribute"});
  symbols.find(driver.launch, {"cuLaunchKernel"});
  symbols.find(driver.stream_create, {"cuStreamCreate"});
  symbols.find(driver.stream_destroy, {"cuStreamDestroy_v2"});
  symbols.find(driver.stream_synchronize, {"cuStreamSynchronize"});
  symbols.find(driver.event_create, {"cuEventCreate"});
  symbols.find(driver.event_destroy, {"cuEventDestroy_v2"});
  symbols.find(driver.event_record, {"cuEventRecord"});
  symbols.find(driver.event_synchronize, {"cuEventSynchronize"});
  symbols.find(driver.event_elapsed, {"cuEventElapsedTime_v2", "cuEventElapsedTime"});
  symbols.find(driver.begin_capture, {"cuStreamBeginCapture_v2"});
  symbols.find(driver.end_capture, {"cuStreamEndCapture"});
  symbols.find(driver.graph_instantiate, {"cuGraphInstantiateWithFlags"});
  symbols.find(driver.graph_launch, {"cuGraphLaunch"});
  symbols.find(driver.graph_destroy, {"cuGraphDestroy"});
  symbols.find(driver.graph_exec_destroy, {"cuGraphExecDestroy"});
}

void find_memory(Symbols& symbols, Driver& driver) {
  symbols.find(driver.allocate, {"cuMemAlloc_v2"});
  symbols.find(driver.free, {"cuMemFree_v2"});
  symbols.find(driver.memory_info, {"cuMemGetInfo_v2"});
  symbols.find(driver.host_allocate, {"cuMemHostAlloc"});
  symbols.find(driver.host_free, {"cuMemFreeHost"});
  symbols.find(driver.host_address, {"cuMemHostGetDevicePointer_v2"});
  symbols.find(driver.copy_to_device, {"cuMemcpyHtoDAsync_v2"});
  symbols.find(driver.copy_to_host, {"cuMemcpyDtoHAsync_v2"});
  symbols.find(driver.copy_on_device, {"cuMemcpyDtoDAsync_v2"});
  symbols.find(driver.set_bytes, {"cuMemsetD8Async"});
  symbols.find(driver.granularity, {"cuMemGetAllocationGranularity"});
  symbols.find(driver.memory_create, {"cuMemCreate"});
  symbols.find(driver.memory_release, {"cuMemRelease"});
  symbols.find(driver.address_reserve, {"cuMemAddressReserve"});
  symbols.find(driver.address_free, {"cuMemAddressFree"});
  symbols.find(driver.map, {"cuMemMap"});
  symbols.find(driver.unmap, {"cuMemUnmap"});
  symbols.find(driver.set_access, {"cuMemSetAccess"});
  symbols.find(driver.export_handle, {"cuMemExportToShareableHandle"});
  symbols.find(driver.import_handle, {"cuMemImportFromShareableHandle"});
}

// Why cuInit may have failed, as far as the device files tell.
std::string advice() {
  const auto files = device_files();
  if (files.empty()) return "there is no /dev/nvidia*: load the driver's modules, or give the container its GPU (docker run --gpus)";
  for (const std::string& file : files)
    if (access(file.c_str(), R_OK | W_OK) != 0) return file + " may not be opened by this user: give the user access to it";
  return "run nvidia-smi to see what the driver says";
}

Expected<Driver> load() {
  Driver loaded{};
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return machine_failed("no GPU can be used: {}: install the NVIDIA driver, or name the folder of libcuda.so.1 in LD_LIBRARY_PATH", dlerror());
  Symbols symbols(library);
  find_contexts(symbols, loaded);
  find_work(symbols, loaded);
  find_memory(symbols, loaded);
  if (!symbols.missing().empty())
    return machine_failed("no GPU can be used: this libcuda.so.1 lacks {}: install the driver of CUDA 12 or later", symbols.missing());
  Dl_info about = {};
  if (dladdr(reinterpret_cast<void*>(loaded.init), &about) && about.dli_fname) {
    loaded.library = about.dli_fname;
    loaded.folder = fs::path(loaded.library).parent_path().string();
  }
  if (const Result result = loaded.init(0); result != kSuccess)
    return machine_failed("no GPU can be used: cuInit: {}: {}", loaded.describe(result), advice());
  int count = 0;
  if (const Result result = loaded.device_count(&count); result != kSuccess || count == 0)
    return machine_failed("no GPU can be used: the driver at {} finds no device ({}): {}", loaded.library, loaded.describe(result), advice());
  return loaded;
}

}  // namespace

std::string Driver::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (get_error_name) (void)get_error_name(result, &name);
  if (get_error_string) (void)get_error_string(result, &text);
  return fmt::format("{} ({}): {}", name ? name : "unknown CUDA error", result, text ? text : "the driver has no text for it");
}

Status Driver::check(Result result, std::string_view action) const {
  if (result == kSuccess) return {};
  return machine_failed("{}: {}", action, describe(result));
}

Expected<const Driver*> driver() {
  static const Expected<Driver> loaded = load();
  if (!loaded) return std::unexpected(loaded.error());
  return &*loaded;
}

std::vector<std::string> device_files() {
  std::vector<std::string> files;
  std::error_code error;
  for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"})
    if (fs::is_character_file(name, error)) files.emplace_back(name);
  for (int minor = 0; minor < 64; ++minor)
    if (const std::string name = fmt::format("/dev/nvidia{}", minor); fs::is_character_file(name, error)) files.push_back(name);
  return files;
}

}  // namespace whet::cuda
