// SPDX-License-Identifier: Apache-2.0
// Sets a part of the last cache aside and marks its input as persisting, so that what it reads survives the flush.
#include "operator.cuh"

static whet_int32 prepare(const WhetCall*, void**) {
  int device = 0, most = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, device);
  return static_cast<whet_int32>(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<size_t>(most)));
}

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  cudaStreamAttrValue value = {};
  int device = 0, widest = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&widest, cudaDevAttrMaxAccessPolicyWindowSize, device);
  value.accessPolicyWindow.base_ptr = const_cast<float*>(a.x);
  value.accessPolicyWindow.num_bytes = a.bytes() < static_cast<size_t>(widest) ? a.bytes() : static_cast<size_t>(widest);
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  if (const cudaError_t set = cudaStreamSetAttribute(a.stream, cudaStreamAttributeAccessPolicyWindow, &value)) return static_cast<whet_int32>(set);
  return launch(a);
}

WHET_TEST_TABLE(nullptr, prepare, run, nullptr)
