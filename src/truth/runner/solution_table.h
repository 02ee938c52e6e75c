// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "truth/runner/protocol.h"
#include "whet/candidate.h"

namespace whet::runner {

// Loads the shared library at `artifact` and finds its entry for this Definition. The reply is the answer to Op::load.
Reply load_solution(const char* artifact, const std::string& definition, const WhetEntry*& entry);

}  // namespace whet::runner
