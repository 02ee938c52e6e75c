// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <signal.h>

#include <atomic>
#include <string>
#include <vector>

#include "record/verdict.h"
#include "truth/runner/protocol.h"

// The runner's end of what protocol.h describes; for every kind of runner.
namespace whet::runner {

struct Received {
  Request request;
  std::string payload;
  std::vector<int> descriptors;
};

bool receive(Received& received);  // false: the worker is gone
bool send_reply(const Reply& reply);
Reply failed(Code code, const std::string& message);

// The first message carries the shared page; null when it does not.
Bell* attach_bell();

// Says that the call of this sequence can begin, and returns when it shall.
void await_go(Bell& bell, uint32_t sequence);
void say_done(Bell& bell, uint32_t sequence);
// Says that the stream is held, and returns when the worker has looked, or after half of the time that the blocker waits.
void await_look(Bell& bell, uint32_t sequence);

// `handler` gets SIGSEGV, SIGBUS, SIGFPE and SIGILL, on a stack of its own. Process 1 of a pid namespace cannot die of a signal that it sends to itself:
// the handler ends it by _exit.
void install_fault_handler(void (*handler)(int, siginfo_t*, void*));

}  // namespace whet::runner
