// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace whet::runner {

// The program inside the jail: loads one Solution, the shared library at `artifact`, and makes the calls that the worker asks for over kSocket, until that socket closes.
// Knows buffers, no answers, no Task. Returns the exit code of the process.
int run_child(const char* artifact);

}  // namespace whet::runner
