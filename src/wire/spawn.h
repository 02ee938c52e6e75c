// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace whet {

// A worker's process: leader of a process group of its own, so that Ctrl-C at the terminal does not reach it, with nothing open but three pipes.
// It is killed when the *thread* that started it ends (PR_SET_PDEATHSIG), so start it from one that lives as long as it is used.
class WorkerProcess {
 public:
  static Expected<WorkerProcess> start(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment);

  WorkerProcess() = default;
  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();  // kills the group and reaps

  pid_t pid = -1;
  Descriptor in, out, err;  // we write, we read, we read; none blocks
  Descriptor watch;         // readable when it has ended (pidfd; none on kernels before 5.3)

  // How it ended: "exited with code 3", "was killed by signal 9 (Killed)"; empty if it still runs after the wait. What is left of its
  // process group is killed.
  std::string wait_for_end(std::chrono::milliseconds at_most);
  // -1 while it runs, or when a signal ended it.
  int exit_code() const { return exit_code_; }

 private:
  bool has_ended() const;
  void reap();

  bool reaped_ = false;
  int exit_code_ = -1;
  std::string ending_;
};

}  // namespace whet
