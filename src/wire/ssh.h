// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "wire/address.h"
#include "wire/far_side.h"
#include "wire/spawn.h"

namespace whet {

// The user's own ssh and its configuration; no password is ever asked for, because there is nobody to answer.
struct SshOptions {
  std::vector<std::string> program = {"ssh"};            // with arguments; looked up in PATH of `environment` unless it has a slash
  std::map<std::string, std::string> environment;        // the whole: agent, home, ...
  std::string worker_file;                               // the program that is to run there
  std::vector<std::string> arguments;                    // of that program
  std::function<void(const std::string&)> notice;        // one line for the user, without line feed; may be null
};

// A worker's program on another machine as this side sees it.
class SshWorker {
 public:
  // Reads and hashes the program. Blame::input when it or the ssh program is not there.
  static Expected<SshWorker> make(const WorkerAddress& address, SshOptions options);

  // Starts the program over there, and sends it first if it is missing or another. Then its protocol runs over the process's pipes; nothing was
  // written to `in` and nothing is left in `out`. Errors say what ssh or the other side complained of and what to do.
  Expected<WorkerProcess> start();
  // Sends the program whatever is there.
  Status send();

  const std::string& hash() const { return program_.hash; }
  // "; " and what to do about a worker that was there and could not run, as far as its stderr tells; else nothing.
  static std::string remedy(const std::string& worker_stderr);

 private:
  SshWorker() = default;
  std::vector<std::string> argv(const std::string& command) const;
  Expected<WorkerProcess> start_once(std::string& greeting);
  Error explained(int exit_code, const std::string& said) const;

  WorkerAddress address_;
  SshOptions options_;
  FarProgram program_;
  std::string contents_;
};

// How a process that ran over ssh ended: "was lost with its connection", "was killed there by signal 9 (Killed)", "exited there with code 3".
std::string ending_over_ssh(const WorkerProcess& ssh, const std::string& ending);

}  // namespace whet
