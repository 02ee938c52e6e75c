// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "record/profile.h"

namespace whet {

// The raw page of Nsight Compute as CSV (`ncu --import REPORT --csv --page raw`): a LaunchProfile for every launch, with every counter, in base units;
// no labels yet. Whatever stands before the header (lines "==PROF==", the program's own output) is left out. Errors: no such table, a table without a
// launch, a row of another length than the header.
Expected<std::vector<LaunchProfile>> parse_ncu_raw(std::string_view text);

// Keeps the counters that `wanted` names and writes into `missing` those that are not there.
void keep_counters(LaunchProfile& launch, std::span<const std::string> wanted);

// What ncu said while it profiled: its lines "==ERROR==", "==WARNING==", "==PROF==", on stdout or in its --log-file.
struct NcuLog {
  std::vector<std::string> errors, warnings;  // without the prefix, each once
  int launches = 0;                           // "==PROF== Profiling ..."
  bool no_permission = false;                 // ERR_NVGPUCTRPERM
  bool no_kernels = false;                    // "No kernels were profiled."
  bool no_device = false;
};
NcuLog parse_ncu_log(std::string_view text);

// The error for a run of ncu that gave nothing to look at, or success. `exit_code` is ncu's, which is the profiled program's own if that failed.
Status check_ncu_run(const NcuLog& log, int exit_code, std::string_view program_output);

// "2025.3.1.0" of `ncu --version`; "" when there is none.
std::string ncu_version(std::string_view text);

}  // namespace whet
