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
  int type;      // of attention.h
  int swizzle;   // bytes of a swizzled row: 128, 64, or 0 for none
  long long extent[5], stride_bytes[5];
  int box[5];
};
// "" or why not.
std::string encode(const Box& box, CUtensorMap* map);

}  // namespace whet_kernels
