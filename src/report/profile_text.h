// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "record/disassembly.h"
#include "record/profile.h"
#include "record/sanitizing.h"
#include "report/table.h"

namespace whet {

// What a person, or an agent, reads of a profile: the counters first, then what they mean. At most 10 kB, whatever was launched.
std::string profile_text(const Profile& profile, const ReportStyle& style);

// Kernels with their instruction mix, the lines that touch local memory, and the difference between two Solutions. At most 10 kB.
std::string disassembly_text(const Disassembly& disassembly, const ReportStyle& style);

// A line for each tool, and its findings. At most 10 kB.
std::string sanitizing_text(const Sanitizing& sanitizing, const ReportStyle& style);

}  // namespace whet
