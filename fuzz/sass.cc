// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/sass.h"

#include "base/json_impl.h"
#include "fuzzed.h"

using namespace whet;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  std::vector<SassKernel> kernels = parse_sass(text);
  add_resource_usage(kernels, text);
  for (const SassKernel& kernel : kernels) {
    int64_t classes = 0, opcodes = 0;
    for (const auto& [name, count] : kernel.classes) classes += count;
    for (const auto& [name, count] : kernel.opcodes) opcodes += count;
    must(classes == kernel.instructions && opcodes == kernel.instructions, "every instruction has one class and one opcode");
  }
  int64_t same = 0;
  const auto none = difference(kernels, kernels, same);
  must(none.empty() && same == static_cast<int64_t>(kernels.size()), "a disassembly does not differ from itself");
  (void)difference(kernels, {}, same);
  (void)disassembler_failure(1, text);
  return 0;
}
