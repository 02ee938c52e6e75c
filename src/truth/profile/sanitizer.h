// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "record/sanitizing.h"

namespace whet {

// What compute-sanitizer returns when it found something; an exit code that no honest program has by chance.
constexpr int kSanitizerFound = 86;

// Reads what compute-sanitizer wrote (its --log-file; on stdout between the program's own lines). The summary line decides whether it ran to its end: without
// one, the report is "failed". A program that itself failed, without a finding, is "failed" too, for the call was not run through.
// `exit_code` is the tool's own (--error-exitcode kSanitizerFound), -1 when it was killed at its time limit.
SanitizerReport parse_sanitizer(const std::string& tool, std::string_view text, int exit_code);

// "2025.3.1.0" of `compute-sanitizer --version`.
std::string sanitizer_version(std::string_view text);

}  // namespace whet
