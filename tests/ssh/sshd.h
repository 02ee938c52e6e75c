// SPDX-License-Identifier: Apache-2.0
// A real sshd on this machine's loopback: as whoever runs the tests, with keys, configuration and clients' configuration of its own in one folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/process.h"

namespace whet {

class Sshd {
 public:
  // Why there can be none here; empty if there can. Named so that a skipped test says what to install.
  static std::string missing();
  static Expected<Sshd> start(const std::filesystem::path& folder);

  // The clients' ssh, with the configuration that knows these hosts, all of them this sshd:
  //   gpu       as it should be                 loud      its login prints a line before the command runs
  //   stranger  its host key is not known       changed   another host key is known for it
  //   refused   the key is not an authorised one  closed    nobody listens on its port
  std::vector<std::string> client() const { return {"/usr/bin/ssh", "-F", (folder_ / "client").string()}; }
  int port() const { return port_; }
  int closed_port() const { return closed_port_; }
  // Where the worker is kept over there when no folder is named; the home of whoever logs in is folder/home.
  std::filesystem::path far_folder() const { return folder_ / "home/.cache/whet/worker"; }
  pid_t pid() const { return process_.pid(); }
  // kill -9 of the processes that serve connections, and of nothing else.
  void kill_connections() const;
  void kill_listener() { process_.kill(); }

 private:
  Sshd() = default;
  Status write_files();
  Status wait_until_it_listens();

  std::filesystem::path folder_;
  int port_ = 0, closed_port_ = 0;
  Process process_;
};

}  // namespace whet
