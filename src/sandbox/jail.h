// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace whet {

// A host path that is seen inside. On a machine that refuses a mount namespace nothing can be moved, so `inside` must equal `host` there;
// callers that want to run everywhere always keep them equal.
struct Bind {
  std::string host;
  std::string inside;
};

// 0 is no limit.
struct JailLimits {
  uint64_t memory_bytes = 0;  // of all its processes, scratch included; by cgroup, else RLIMIT_DATA (never RLIMIT_AS)
  uint64_t processes = 0;     // threads count too
  uint64_t file_bytes = 0;    // largest file that it may write
  uint64_t cpu_seconds = 0;   // per process
  uint64_t open_files = 256;
};

// What the filter of system calls forbids from the start: both forbid ptrace, sockets, mounts, namespaces, keys, bpf, io_uring, ...
// `gpu_runner` may make sockets of AF_UNIX until then; `runner` and it additionally expect the payload to call enter_runner_filter() (runner_filter.h), after which it can start no process.
enum class SyscallProfile { runner, gpu_runner, build };

// What becomes of fd 1 and 2, unless `descriptors` gives them.
enum class JailOutput {
  capture,  // head and tail are kept; wait() and poll() drain it, so a payload that writes much between them waits
  lossy,  // the payload never waits: what does not fit into the pipe (64 KiB) before the next wait(), poll() or output() is lost
};

struct JailSpec {
  std::vector<std::string> argv;                   // argv[0] is a path inside; no PATH look-up
  std::map<std::string, std::string> environment;  // the whole environment
  // Beside these a payload sees /usr, /lib*, /bin, the loader's and alternatives' files of /etc, /dev/{null,zero,urandom}, its own /proc.
  std::vector<Bind> read_only;
  // A host folder that it may write; start() gives the folder to the jail's user.
  std::vector<Bind> writable;
  // Device files that it may open, read, write and control (ioctl): "/dev/nvidia0". With any of them it may read and write its /proc.
  std::vector<std::string> devices;
  // A private tmpfs of this size, at `scratch_inside`; without a mount namespace it is a temporary folder, and the working directory.
  uint64_t scratch_bytes = 0;
  std::string scratch_inside = "/scratch";
  std::string working_directory;  // inside; empty: the scratch if there is one, else "/"
  std::vector<std::pair<int, int>>
      descriptors;  // ours -> its number inside; everything else is closed. 0 is /dev/null unless given
  JailLimits limits;
  SyscallProfile profile = SyscallProfile::runner;
  JailOutput output = JailOutput::capture;
  size_t max_output = size_t{64} << 10;  // captured bytes that are kept, stdout and stderr together
  std::vector<int> cores;                // empty: ours
};

// One protection. user_namespace, mount_namespace, pid_namespace, network_namespace, ipc_namespace, private_proc, unprivileged_user, seccomp,
// landlock, rlimits, cgroup_memory, cgroup_pids. A machine may refuse some; `reason` says which call was refused and why.
struct Wall {
  std::string name;
  bool standing = false;
  std::string reason;

  bool operator==(const Wall&) const = default;
};

struct JailExit {
  int code = -1;   // -1 when it ended by a signal
  int signal = 0;  // as seen from outside; 6 also when abort() was reported by enter_runner_filter()'s handler
  bool memory_limit_hit = false;
  bool process_limit_hit = false;
  bool killed_by_us = false;
  // By a SIGKILL that nothing in the jail can have sent: from outside, or by a machine that is out of memory. It says nothing about the payload.
  // Known only where a pid namespace stands.
  bool killed_from_outside = false;
  std::string forbidden_syscall;  // "socket", when the runner filter's handler named one
  std::string sentence;           // "ended by signal 11 (Segmentation fault)"

  bool ok() const { return code == 0; }
};

// A program in a jail of its own. It is process 1 of its pid namespace, and a direct child of ours: when it ends, everything in the jail ends;
// when the thread that called start() ends, or our process is killed, the jail is killed. So start() from a thread that outlives the jail.
// Not thread-safe; one thread may use it at a time.
class Jailed {
 public:
  // Returns once the payload's exec has happened (or failed: then the Error says at which step and why). Takes 4 ms on a quiet virtual machine of
  // two cores (median of 100; of that 1 ms is the clone); should stay below 15.
  static Expected<Jailed> start(const JailSpec& spec);

  Jailed();
  Jailed(Jailed&&) noexcept;
  Jailed& operator=(Jailed&&) noexcept;
  ~Jailed();  // kill()

  pid_t pid() const;
  const std::vector<Wall>& walls() const;

  // Stops every thread of the payload (SIGSTOP) and returns when all of them are stopped. An Error when it ended instead.
  // For a payload of one process (profile runner): its children would not stop. On the same machine 13 us for a payload that sleeps, 56 us for
  // one that computes on another core; milliseconds when it has more threads that compute than cores, because each must get its turn to stop.
  Status freeze();
  // Lets it go on. An Error when it had gone on by itself meanwhile (which breaks a promise) or ended.
  Status thaw();
  bool frozen() const;

  void kill();  // everything in it dies, and is gone when this returns; poll() then tells the exit

  Expected<std::optional<JailExit>> poll();  // nothing while it runs
  Expected<std::optional<JailExit>> wait(
      std::chrono::nanoseconds at_most);  // nothing when the time is over and it still runs

  std::string output();                // what was captured so far, stdout and stderr in the order of writing
  uint64_t output_bytes() const;       // how much it wrote, kept or not (with `lossy`, how much arrived)
  uint64_t memory_bytes() const;       // now; 0 when it is unknown
  uint64_t memory_peak_bytes() const;  // 0 when it is unknown
  uint64_t task_count() const;         // threads of all its processes; 0 when it is unknown or over

 private:
  struct State;
  explicit Jailed(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The walls that this machine grants, without starting a payload; probed once per process.
const std::vector<Wall>& jail_walls();

}  // namespace whet
