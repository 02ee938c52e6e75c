// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// The part of the CUDA driver's C API that we use, declared by ourselves: a machine that builds or runs this worker need not have a toolkit.
// driver_test.cc compares every number and layout with <cuda.h> where that is found.
namespace whet::cuda {

using Result = int;    // CUresult; 0 is success
using Device = int;    // CUdevice: the ordinal
using Address = unsigned long long;  // CUdeviceptr
using Handle = unsigned long long;   // CUmemGenericAllocationHandle
using Context = struct CUctx_st*;
using Module = struct CUmod_st*;
using Function = struct CUfunc_st*;
using Stream = struct CUstream_st*;
using Event = struct CUevent_st*;
using Graph = struct CUgraph_st*;
using GraphExec = struct CUgraphExec_st*;

constexpr Result kSuccess = 0, kErrorNoDevice = 100, kErrorInvalidValue = 1, kErrorUnsupportedLimit = 215, kErrorIllegalAddress = 700;

enum Attribute : int {
  kClockKhz = 13,
  kMultiprocessors = 16,
  kEccEnabled = 32,
  kMemoryClockKhz = 36,
  kMemoryBusBits = 37,
  kL2Bytes = 38,
  kThreadsPerMultiprocessor = 39,
  kComputeMajor = 75,
  kComputeMinor = 76,
  kSharedPerMultiprocessor = 81,
  kRegistersPerMultiprocessor = 82,
  kSharedPerBlockOptIn = 97,
  kVirtualMemory = 102,
  kPosixHandles = 103,
  kMaxPersistingL2 = 108,
};
enum FunctionAttribute : int { kSharedBytes = 1, kLocalBytes = 3, kRegisters = 4, kBinaryVersion = 6, kMaxDynamicShared = 8 };

constexpr int kLimitPersistingL2 = 0x06;
constexpr unsigned kScheduleSpin = 0x01;
constexpr unsigned kStreamDefault = 0;  // ordered with the legacy stream
constexpr unsigned kEventDefault = 0;
constexpr int kCaptureRelaxed = 2;
constexpr unsigned kHostPortable = 0x01, kHostMapped = 0x02;

// CUmemLocation, CUmemAllocationProp, CUmemAccessDesc.
struct Location {
  int type = 1;  // device
  int id = 0;
};
struct AllocationProperties {
  int type = 1;                    // pinned
  int requested_handle_types = 1;  // POSIX file descriptor
  Location location;
  void* win32 = nullptr;
  unsigned char compression = 0;
  unsigned char rdma = 0;
  unsigned short usage = 0;
  unsigned char reserved[4] = {};
};
constexpr int kHandleDescriptor = 1;
constexpr int kGranularityMinimum = 0;
struct AccessDescription {
  Location location;
  int flags = 3;
};
constexpr int kAccessRead = 1, kAccessReadWrite = 3;

struct Uuid {
  unsigned char bytes[16];
};

// The functions, as found in libcuda.so.1 under their newest name that we know (_v2 where there is one).
struct Driver {
  std::string library;  // the file, as the loader found it; its folder is what a jail must be able to read
  std::string folder;

  Result (*init)(unsigned flags);
  Result (*get_error_name)(Result, const char**);
  Result (*get_error_string)(Result, const char**);
  Result (*driver_version)(int*);  // 13000 is 13.0
  Result (*device_count)(int*);
  Result (*device_get)(Device*, int ordinal);
  Result (*device_name)(char*, int, Device);
  Result (*device_uuid)(Uuid*, Device);
  Result (*device_memory)(size_t*, Device);
  Result (*device_attribute)(int*, int attribute, Device);

  Result (*primary_retain)(Context*, Device);
  Result (*primary_release)(Device);
  Result (*primary_flags)(Device, unsigned);
  Result (*set_current)(Context);
  Result (*synchronize)();  // the current context
  Result (*get_limit)(size_t*, int limit);
  Result (*set_limit)(int limit, size_t);
  Result (*reset_persisting_l2)();

  Result (*module_load)(Module*, const void* image);
  Result (*module_unload)(Module);
  Result (*module_function)(Function*, Module, const char*);
  Result (*function_attribute)(int*, int attribute, Function);
  Result (*launch)(Function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream,
                   void** parameters, void** extra);

  Result (*stream_create)(Stream*, unsigned flags);
  Result (*stream_destroy)(Stream);
  Result (*stream_synchronize)(Stream);
  Result (*event_create)(Event*, unsigned flags);
  Result (*event_destroy)(Event);
  Result (*event_record)(Event, Stream);
  Result (*event_synchronize)(Event);
  Result (*event_elapsed)(float* milliseconds, Event, Event);

  Result (*allocate)(Address*, size_t);
  Result (*free)(Address);
  Result (*memory_info)(size_t* free, size_t* total);
  Result (*host_allocate)(void**, size_t, unsigned flags);
  Result (*host_free)(void*);
  Result (*host_address)(Address*, void*, unsigned flags);
  Result (*copy_to_device)(Address, const void*, size_t, Stream);
  Result (*copy_to_host)(void*, Address, size_t, Stream);
  Result (*copy_on_device)(Address, Address, size_t, Stream);
  Result (*set_bytes)(Address, unsigned char, size_t, Stream);

  Result (*granularity)(size_t*, const AllocationProperties*, int option);
  Result (*memory_create)(Handle*, size_t, const AllocationProperties*, unsigned long long flags);
  Result (*memory_release)(Handle);
  Result (*address_reserve)(Address*, size_t, size_t alignment, Address hint, unsigned long long flags);
  Result (*address_free)(Address, size_t);
  Result (*map)(Address, size_t, size_t offset, Handle, unsigned long long flags);
  Result (*unmap)(Address, size_t);
  Result (*set_access)(Address, size_t, const AccessDescription*, size_t count);
  Result (*export_handle)(void* handle, Handle, int type, unsigned long long flags);
  Result (*import_handle)(Handle*, void* os_handle, int type);  // a descriptor is passed by value, as a pointer

  Result (*begin_capture)(Stream, int mode);
  Result (*end_capture)(Stream, Graph*);
  Result (*graph_instantiate)(GraphExec*, Graph, unsigned long long flags);
  Result (*graph_launch)(GraphExec, Stream);
  Result (*graph_destroy)(Graph);
  Result (*graph_exec_destroy)(GraphExec);

  // "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered"
  std::string describe(Result result) const;
  // Success, or a machine failure "allocating 4096 bytes: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory".
  Status check(Result result, std::string_view action) const;
};

// Loads libcuda.so.1 and initialises it, once per process. The error says in one line what is missing and what to do about it.
Expected<const Driver*> driver();

// The device files that a process must be able to open to use a GPU, those that this machine has.
std::vector<std::string> device_files();

}  // namespace whet::cuda
