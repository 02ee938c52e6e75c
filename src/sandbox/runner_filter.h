// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/error.h"

namespace whet {

// Called by the payload itself, inside a jail, as the last thing before it loads code that is not trusted. From then on
//   - no process can be started and no program executed; threads can;
//   - sockets, ptrace, signals to others, timers that could wake a frozen process, and all that jail.h lists, are refused: a call that no honest
//     kernel makes ends the process with exit code kForbiddenExit after naming the call on stderr;
//   - abort() ends the process with exit code kAbortExit (process 1 of a pid namespace cannot die of a SIGABRT of its own);
//   - the process is not dumpable.
// Threads that exist already are put under the filter too.
//
// `python` is for an interpreter with libraries that compile at run time (Triton starts gcc and ptxas). It opens, and nothing else:
//   - processes can be started and programs executed; they stay in the jail, under the same filter;
//   - calls that would end the process are refused instead (EPERM), because libraries probe and do without;
//   - the process stays dumpable: CUDA's driver opens /proc/self/task/N/comm whenever a library makes it start a thread.
enum class RunnerFilter { library, python };
Status enter_runner_filter(RunnerFilter kind = RunnerFilter::library);

constexpr int kForbiddenExit = 159;  // 128 + SIGSYS
constexpr int kAbortExit = 134;      // 128 + SIGABRT

// "socket" from the line that the handler wrote, if it is in the text.
std::optional<std::string> forbidden_syscall_in(const std::string& output);

}  // namespace whet
