// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace whet {

// Where a worker runs.
struct WorkerAddress {
  std::string program;  // of a local one; empty: the whet-worker beside the running program
  // Of one on another machine; an empty host means a local one.
  std::string host;     // a name of the user's ssh configuration or of the network, or a number; an IPv6 number without its brackets
  std::string user;     // empty: as the user's ssh configuration says
  int port = 0;         // 0: likewise
  std::string folder;   // where the worker's program is kept there: "/a/b", "~", "~/a/b"; empty: $XDG_CACHE_HOME/whet/worker or ~/.cache/whet/worker

  bool remote() const { return !host.empty(); }
  // As it is written: "local:", "local:/opt/whet-worker", "ssh://me@gpu:2222/~/whet". For messages: parse_worker_address() reads it back.
  std::string text() const;
  bool operator==(const WorkerAddress&) const = default;
};

// "local:", "local:/path/to/whet-worker", "ssh://[user@]host[:port][/folder]", where a folder that begins with "/~" is below the home folder. Errors begin
// with `named_by` ("--worker"). No part of the result can be taken for an option or for shell text by the ssh program or on the other side.
Expected<WorkerAddress> parse_worker_address(const std::string& text, const std::string& named_by);

// The words of an ssh program with its arguments ("ssh -F 'my config'"): cut at blanks, but for what stands in single or double quotes. No shell is asked.
Expected<std::vector<std::string>> parse_ssh_program(const std::string& text, const std::string& named_by);

}  // namespace whet
