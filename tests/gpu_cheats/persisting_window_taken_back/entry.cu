// SPDX-License-Identifier: Apache-2.0
// As persisting_window, but the part that it sets aside is given back before run() returns, so that nobody finds it. The test shows that it gains nothing.
#include "operator.cuh"

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, size_t{16} << 20);
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.base_ptr = const_cast<float*>(a.x);
  value.accessPolicyWindow.num_bytes = a.bytes() < (size_t{16} << 20) ? a.bytes() : size_t{16} << 20;
  value.accessPolicyWindow.hitRatio = 1;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
  value.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
  cudaStreamSetAttribute(a.stream, cudaStreamAttributeAccessPolicyWindow, &value);
  const int code = launch(a);
  cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
  return code;
}

WHET_TEST_SOLUTION(run)
