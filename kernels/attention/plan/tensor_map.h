// SPDX-License-Identifier: Apache-2.0
//
// Descriptors of tensors for the copy engine.
#pragma once

#include <cuda.h>

#include <string>

namespace whet_kernels {

// Five dimensions, innermost first; the innermost is contiguous.
struct Box {
  const void* address;
  bool bf16;
  int columns;  // of a block: 64 (128-byte swizzle) or 32 (64-byte swizzle)
  long long extent[5], stride_bytes[5];
  int box[5];
};
// "" or why not.
std::string encode(const Box& box, CUtensorMap* map);

}  // namespace whet_kernels
