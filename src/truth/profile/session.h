// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/disassembly.h"
#include "record/profile.h"
#include "record/sanitizing.h"
#include "truth/profile/label.h"
#include "truth/profile/roofline.h"
#include "truth/profile/tool.h"

namespace whet {

struct ProfileFiles {
  std::string report;  // the .ncu-rep, as ncu wrote it
  std::string raw;     // its raw page as CSV, every counter
};
struct Profiled {
  Profile profile;  // without task, workload and Solution
  ProfileFiles files;
};

// Runs the program under ncu (set full, source counters, the clocks as they are), keeps the report, reads it, and gives labels.
Expected<Profiled> profile_program(const std::filesystem::path& ncu, const ProfiledProgram& program, const std::vector<LabelRule>& rules,
                                   const MeasuredCeilings& ceilings);

// The tools of compute-sanitizer, in the order in which they run by default.
const std::vector<std::string>& sanitizer_tools();
// Runs the program under each of `tools`. A tool that fails is data; an Error is a machine that cannot start it.
Expected<Sanitizing> sanitize_program(const std::filesystem::path& sanitizer, const ProfiledProgram& program, const std::vector<std::string>& tools);

// The device code of a library, and that of cuobjdump which says so.
struct Disassembled {
  std::vector<SassKernel> kernels;
  std::string tool;
};
Expected<Disassembled> disassemble_file(const std::filesystem::path& cuobjdump, const std::filesystem::path& library);

}  // namespace whet
