// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "record/kernel_facts.h"

namespace whet {

// What `nvcc -Xptxas -v` wrote, taken apart.
struct PtxasReading {
  KernelReport code;
  std::string rest;  // what is not a fact of ptxas: errors and warnings of all programs, ptxas' own too
};

// Reads the output of one nvcc call (13.0 and 12.x) in any order of its parts and with anything between them. A kernel that was compiled for several
// architectures stands once for each. An advisory belongs to the kernel that it names, else to the whole; functions that are no kernels have no row.
PtxasReading read_ptxas(const std::string& log);

}  // namespace whet
