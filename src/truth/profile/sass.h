// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/disassembly.h"

namespace whet {

// The output of `cuobjdump -sass` (a library or a cubin, any number of architectures) or of `nvdisasm -c` (a cubin). Never fails; a text without
// functions gives none. A function that is there twice (same symbol and architecture) is read once.
std::vector<SassKernel> parse_sass(std::string_view text);

// Adds registers, stack and shared memory from `cuobjdump -res-usage`.
void add_resource_usage(std::vector<SassKernel>& kernels, std::string_view text);

// From `before` to `after`, by function: those of one symbol belong together; what is left over belongs together where exactly one on each side has the same
// name without its template arguments. `same` counts those without a difference.
std::vector<KernelDifference> difference(const std::vector<SassKernel>& before, const std::vector<SassKernel>& after, int64_t& same);

// The class of an opcode with modifiers, "HGMMA.64x64x16.F32.BF16" -> "tensor".
std::string_view class_of(std::string_view opcode);
// All classes, in the order in which tables show them.
const std::vector<std::string>& sass_classes();

// One sentence for a run of cuobjdump that gave no code: "the library has no device code", or what it complained of.
Error disassembler_failure(int exit_code, std::string_view complaints);

}  // namespace whet
