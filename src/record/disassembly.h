// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// One function of device code, as disassembled.
struct SassKernel {
  std::string name;                        // demangled
  std::string symbol;                      // as in the binary
  std::string architecture;                // "sm_90a"
  int64_t instructions = 0;                // without the NOPs that fill up
  std::map<std::string, int64_t> classes;  // "tensor" -> count; docs/profiling.md lists the classes
  std::map<std::string, int64_t> opcodes;  // with their modifiers: "LDG.E.128" -> count
  int64_t registers = -1, stack_bytes = -1, shared_bytes = -1;  // -1: the disassembler did not say
  std::vector<std::string> local_memory;   // the lines that read or write local memory: spills, or arrays that are indexed at run time; the first 40
  bool operator==(const SassKernel&) const = default;
};

// A number that is not the same in two candidates.
struct CountChange {
  std::string what;
  int64_t before = 0, after = 0;
  bool operator==(const CountChange&) const = default;
};

struct KernelDifference {
  std::string name;
  std::string only_in;                 // "before" or "after"; empty: in both
  int64_t before = 0, after = 0;       // instructions
  std::vector<CountChange> classes;
  std::vector<CountChange> opcodes;    // the largest changes first; those that are new or gone have a 0
  bool operator==(const KernelDifference&) const = default;
};

struct Disassembly {
  std::string solution, against;       // names; against is empty where nothing is compared
  std::string tool;                    // "cuobjdump 13.0"
  std::vector<SassKernel> kernels;     // of `solution`
  std::vector<KernelDifference> differences;  // from `against` to `solution`; kernels that are the same are left out
  int64_t same_kernels = 0;            // compared, and equal in every count
  bool operator==(const Disassembly&) const = default;
};

Json to_json(const Disassembly& disassembly);
Expected<Disassembly> disassembly_from_json(const Json& json, const std::string& where);

}  // namespace whet
