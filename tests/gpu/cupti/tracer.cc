// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/cupti/tracer.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstdlib>

#if __has_include(<cupti.h>)
#include <cupti.h>
#endif

namespace whet {
namespace {

constexpr int kConcurrentKernel = 10;
constexpr uint32_t kForced = 1;
constexpr size_t kBufferBytes = size_t{4} << 20;

// What all versions of CUpti_ActivityKernel since CUDA 9 begin with.
struct KernelRecord {
  int32_t kind;
  uint8_t cache, shared;
  uint16_t registers;
  int32_t partitioned[2];
  uint64_t start, end, completed;
  uint32_t device, context, stream;
  int32_t grid[3], block[3], static_shared, dynamic_shared;
  uint32_t local_per_thread, local_total, correlation;
  int64_t grid_id;
  const char* name;
};
#ifdef CUPTI_API_VERSION
static_assert(offsetof(KernelRecord, start) == offsetof(CUpti_ActivityKernel9, start) && offsetof(KernelRecord, end) == offsetof(CUpti_ActivityKernel9, end));
static_assert(offsetof(KernelRecord, name) == offsetof(CUpti_ActivityKernel9, name));
static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == kConcurrentKernel && CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == kForced);
#endif

std::vector<CuptiTracer::Span> spans;
int (*next_record)(uint8_t*, size_t, void**) = nullptr;

void give_buffer(uint8_t** buffer, size_t* bytes, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *buffer ? kBufferBytes : 0;
  *most_records = 0;
}

void take_buffer(void*, uint32_t, uint8_t* buffer, size_t, size_t used) {
  void* record = nullptr;
  while (used > 0 && next_record(buffer, used, &record) == 0) {
    const auto* kernel = static_cast<const KernelRecord*>(record);
    if (kernel->kind == kConcurrentKernel) spans.push_back({kernel->name ? kernel->name : "", kernel->start, kernel->end});
  }
  std::free(buffer);
}

}  // namespace

struct CuptiTracer::Library {
  int (*enable)(int kind);
  int (*disable)(int kind);
  int (*flush)(uint32_t flag);
  int (*callbacks)(void (*)(uint8_t**, size_t*, size_t*), void (*)(void*, uint32_t, uint8_t*, size_t, size_t));
  int (*text)(int, const char**);

  Status check(int result, const char* what) const {
    if (result == 0) return {};
    const char* name = nullptr;
    if (text) (void)text(result, &name);
    return machine_failed("CUPTI: {}: {} ({})", what, name ? name : "unknown", result);
  }
};

Expected<CuptiTracer> CuptiTracer::open() {
  static Library library{};
  void* handle = nullptr;
  std::string tried;
  for (const char* path : {"libcupti.so", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "/usr/local/cuda/lib64/libcupti.so", "/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so",
                           "libcupti.so.13", "/usr/local/cuda/lib64/libcupti.so.13", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "libcupti.so.12"}) {
    handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle) break;
    tried += std::string(" ") + path;
  }
  if (!handle) return machine_failed("CUPTI is not there; tried{}", tried);
  const auto find = [&]<class Pointer>(Pointer& pointer, const char* name) { return (pointer = reinterpret_cast<Pointer>(dlsym(handle, name))) != nullptr; };
  if (!find(library.enable, "cuptiActivityEnable") || !find(library.disable, "cuptiActivityDisable") || !find(library.flush, "cuptiActivityFlushAll") ||
      !find(library.callbacks, "cuptiActivityRegisterCallbacks") || !find(next_record, "cuptiActivityGetNextRecord"))
    return machine_failed("CUPTI: a function of its activity API is missing");
  (void)find(library.text, "cuptiGetResultString");
  WHET_OK(library.check(library.callbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks"));
  CuptiTracer tracer;
  tracer.library_ = &library;
  return tracer;
}

Status CuptiTracer::start() {
  spans.clear();
  return library_->check(library_->enable(kConcurrentKernel), "cuptiActivityEnable");
}

Expected<std::vector<CuptiTracer::Span>> CuptiTracer::stop() {
  WHET_OK(library_->check(library_->flush(kForced), "cuptiActivityFlushAll"));
  WHET_OK(library_->check(library_->disable(kConcurrentKernel), "cuptiActivityDisable"));
  return std::move(spans);
}

}  // namespace whet
