// SPDX-License-Identifier: Apache-2.0
#include "truth/gpu/driver.h"

#include <gtest/gtest.h>

#if __has_include(<cuda.h>)
#include <cuda.h>

#include <type_traits>
#define WHET_HAS_CUDA_H 1
#endif

namespace whet::cuda {
namespace {

#ifdef WHET_HAS_CUDA_H
static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(AllocationProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(AllocationProperties, win32) == offsetof(CUmemAllocationProp, win32HandleMetaData));
static_assert(offsetof(AllocationProperties, compression) == offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc) && offsetof(AccessDescription, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(sizeof(Location) == sizeof(CUmemLocation) && offsetof(Location, id) == offsetof(CUmemLocation, id));
static_assert(sizeof(Uuid) == sizeof(CUuuid));
static_assert(std::is_same_v<Address, CUdeviceptr> && std::is_same_v<Handle, CUmemGenericAllocationHandle> && sizeof(CUresult) == sizeof(Result));

TEST(CudaDriver, HasTheNumbersOfTheToolkitsHeader) {
  EXPECT_EQ(kSuccess, CUDA_SUCCESS);
  EXPECT_EQ(kErrorNoDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_EQ(kErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(kErrorUnsupportedLimit, CUDA_ERROR_UNSUPPORTED_LIMIT);
  EXPECT_EQ(kErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(int{kClockKhz}, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  EXPECT_EQ(int{kMultiprocessors}, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_EQ(int{kEccEnabled}, CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
  EXPECT_EQ(int{kMemoryClockKhz}, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  EXPECT_EQ(int{kMemoryBusBits}, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  EXPECT_EQ(int{kL2Bytes}, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_EQ(int{kThreadsPerMultiprocessor}, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  EXPECT_EQ(int{kComputeMajor}, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_EQ(int{kComputeMinor}, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_EQ(int{kSharedPerMultiprocessor}, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  EXPECT_EQ(int{kRegistersPerMultiprocessor}, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  EXPECT_EQ(int{kSharedPerBlockOptIn}, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_EQ(int{kVirtualMemory}, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
  EXPECT_EQ(int{kPosixHandles}, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED);
  EXPECT_EQ(int{kMaxPersistingL2}, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
  EXPECT_EQ(int{kSharedBytes}, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_EQ(int{kLocalBytes}, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_EQ(int{kRegisters}, CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_EQ(int{kBinaryVersion}, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  EXPECT_EQ(int{kMaxDynamicShared}, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_EQ(kLimitPersistingL2, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
  EXPECT_EQ(kScheduleSpin, unsigned{CU_CTX_SCHED_SPIN});
  EXPECT_EQ(kStreamDefault, unsigned{CU_STREAM_DEFAULT});
  EXPECT_EQ(kEventDefault, unsigned{CU_EVENT_DEFAULT});
  EXPECT_EQ(kCaptureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(kHostPortable, unsigned{CU_MEMHOSTALLOC_PORTABLE});
  EXPECT_EQ(kHostMapped, unsigned{CU_MEMHOSTALLOC_DEVICEMAP});
  EXPECT_EQ(kHandleDescriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  EXPECT_EQ(kGranularityMinimum, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  EXPECT_EQ(kAccessRead, CU_MEM_ACCESS_FLAGS_PROT_READ);
  EXPECT_EQ(kAccessReadWrite, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  EXPECT_EQ(Location{}.type, CU_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(AllocationProperties{}.type, CU_MEM_ALLOCATION_TYPE_PINNED);
}

// The functions whose form has changed over the years, against what a program compiled today would call.
TEST(CudaDriver, HasTheFormsOfTheToolkitsHeader) {
  EXPECT_TRUE((std::is_same_v<decltype(&cuMemAddressReserve), CUresult (*)(Address*, size_t, size_t, Address, unsigned long long)>));
  EXPECT_TRUE((std::is_same_v<decltype(&cuGraphInstantiateWithFlags), CUresult (*)(CUgraphExec*, CUgraph, unsigned long long)>));
  EXPECT_TRUE((std::is_same_v<decltype(&cuMemMap), CUresult (*)(Address, size_t, size_t, Handle, unsigned long long)>));
  EXPECT_TRUE((std::is_same_v<decltype(&cuStreamBeginCapture), CUresult (*)(CUstream, CUstreamCaptureMode)>));
  EXPECT_TRUE((std::is_same_v<decltype(&cuMemExportToShareableHandle), CUresult (*)(void*, Handle, CUmemAllocationHandleType, unsigned long long)>));
  EXPECT_TRUE((std::is_same_v<decltype(&cuEventElapsedTime), CUresult (*)(float*, CUevent, CUevent)>));
}
#endif

TEST(CudaDriver, SaysInOneLineWhatIsMissing) {
  const auto found = driver();
  if (found) {
    EXPECT_NE((*found)->library.find("libcuda.so"), std::string::npos);
    EXPECT_FALSE((*found)->folder.empty());
    return;
  }
  EXPECT_EQ(found.error().blame, Blame::machine);
  EXPECT_EQ(found.error().what.find('\n'), std::string::npos);
  EXPECT_TRUE(found.error().what.starts_with("no GPU can be used: ")) << found.error().what;
}

}  // namespace
}  // namespace whet::cuda
