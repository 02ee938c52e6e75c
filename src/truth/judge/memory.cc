// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/memory.h"

#include "truth/guard/mutant.h"

namespace whet {

void Memory::zero_tail(Dtype dtype, uint8_t* data, const std::vector<int64_t>& shape, size_t axis) {
  std::vector<uint8_t> bytes = to_host(data, static_cast<uint64_t>(element_count(shape) * size_of(dtype)));
  whet::zero_tail(dtype, bytes.data(), shape, axis);
  from_host(data, bytes.data(), bytes.size());
}

void Memory::round_down(Dtype dtype, uint8_t* data, int64_t count) {
  std::vector<uint8_t> bytes = to_host(data, static_cast<uint64_t>(count * size_of(dtype)));
  whet::round_down(dtype, bytes.data(), count);
  from_host(data, bytes.data(), bytes.size());
}

}  // namespace whet
