// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace whet {

// What the device compiler said of one kernel, for one architecture. Bytes are per thread, shared memory per block.
struct KernelFacts {
  std::string name;    // demangled: "void scale<4>(float*, int)"
  std::string symbol;  // "_Z5scaleILi4EEvPfi"
  std::string arch;    // "sm_90a"
  int registers = 0;
  int barriers = 0;
  int64_t spill_store_bytes = 0, spill_load_bytes = 0;
  int64_t stack_bytes = 0;     // of its own frame, spilled registers included
  int64_t shared_bytes = 0;    // static; what a launch asks for beside it is not known here
  int64_t constant_bytes = 0;  // 0 where the compiler does not say
  std::vector<std::string> advisories;  // as it wrote them, in order: "C7510: Potential Performance Loss: wgmma.mma_async ..."
  bool operator==(const KernelFacts&) const = default;
};

// Of all device code of one Solution.
struct KernelReport {
  std::vector<KernelFacts> kernels;     // in the order in which they were compiled
  std::vector<std::string> advisories;  // those of no kernel
  bool empty() const { return kernels.empty() && advisories.empty(); }
  bool operator==(const KernelReport&) const = default;
};

class ExactReader;
Json to_json(const KernelFacts& kernel);
// {"kernels": [..], "advisories": [..]}. What is read is read strictly: every key, no other. Errors go where those of `in` go.
Json to_json(const KernelReport& code);
KernelReport read_device_code(ExactReader& in);

}  // namespace whet
