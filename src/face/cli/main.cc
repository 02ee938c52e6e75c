// SPDX-License-Identifier: Apache-2.0
// The program whet.
#include <csignal>

#include "face/cli/command.h"

int main(int argc, char** argv) {
  // A worker that dies while it is written to is an error of that write, not of this process.
  std::signal(SIGPIPE, SIG_IGN);
  whet::Context context = whet::look_around(whet::embedded_tasks());
  return whet::run_command_line({argv + 1, argv + argc}, context);
}
