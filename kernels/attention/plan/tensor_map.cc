// SPDX-License-Identifier: Apache-2.0
#include "plan/tensor_map.h"

#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>

namespace whet_kernels {
namespace {

constexpr CUtensorMapDataType kTypes[] = {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, CU_TENSOR_MAP_DATA_TYPE_UINT8};

// The driver's function, found through the runtime: nothing links with libcuda.
PFN_cuTensorMapEncodeTiled_v12000 find_encoder() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<PFN_cuTensorMapEncodeTiled_v12000>(function);
}

}  // namespace

std::string encode(const Box& b, CUtensorMap* map) {
  static const PFN_cuTensorMapEncodeTiled_v12000 encoder = find_encoder();
  if (encoder == nullptr) return "this driver has no cuTensorMapEncodeTiled";
  cuuint64_t extent[5], stride[4];
  cuuint32_t box[5], step[5] = {1, 1, 1, 1, 1};
  for (int i = 0; i < 5; ++i) {
    extent[i] = static_cast<cuuint64_t>(b.extent[i]);
    box[i] = static_cast<cuuint32_t>(b.box[i]);
    if (i > 0) stride[i - 1] = static_cast<cuuint64_t>(b.stride_bytes[i]);
  }
  // Not 256: rows of a box are 128 bytes, and a decode that fetched twice as much as it asked for was 8 to 25 % slower.
  const CUresult result = encoder(map, kTypes[b.type], 5, const_cast<void*>(b.address), extent, stride, box, step,
                                  CU_TENSOR_MAP_INTERLEAVE_NONE, b.swizzle == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : b.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                                  CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return "";
  std::string text = "cuTensorMapEncodeTiled gave " + std::to_string(static_cast<int>(result)) + " for extents";
  for (long long x : b.extent) text += " " + std::to_string(x);
  text += ", strides";
  for (int i = 1; i < 5; ++i) text += " " + std::to_string(b.stride_bytes[i]);
  text += ", box";
  for (int x : b.box) text += " " + std::to_string(x);
  return text;
}

}  // namespace whet_kernels
