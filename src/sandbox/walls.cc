// SPDX-License-Identifier: Apache-2.0
#include "sandbox/walls.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/cgroup.h"
#include "sandbox/landlock.h"

namespace whet {
namespace {

// 0 when a child can be cloned with these flags, else errno.
int try_clone(int flags) {
  const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (pid == 0) ::_exit(0);
  if (pid < 0) return errno;
  ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
  return 0;
}

// Whether a child with these namespaces may mount a root of its own and a fresh /proc: 0 or errno of each. Some machines grant the namespace
// and refuse every mount in it. The mapped user matters only for making files, so the child needs none here.
struct MountAnswer {
  int root = 0, proc = 0;
};
MountAnswer try_mounts(int flags) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {errno, errno};
  MountAnswer answer{ECHILD, ECHILD};
  const long pid = ::syscall(SYS_clone, flags | SIGCHLD, nullptr, nullptr, nullptr, 0);
  if (pid == 0) {
    auto outcome = [](bool ok) { return ok ? 0 : errno; };
    answer.root = outcome(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("jail", "/usr", "tmpfs", 0, "size=1m") == 0);
    const struct { unsigned long set, clear, propagation, user; } read_only{1, 0, 0, 0};
    if (answer.root == 0)
      answer.root = outcome(::syscall(442 /* mount_setattr */, AT_FDCWD, "/usr", 0, &read_only, sizeof read_only) == 0);
    answer.proc = (flags & CLONE_NEWPID) == 0
                      ? EINVAL
                      : outcome(::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0);
    ::_exit(::write(ends[1], &answer, sizeof answer) == sizeof answer ? 0 : 1);
  }
  ::close(ends[1]);
  if (pid > 0) {
    if (::read(ends[0], &answer, sizeof answer) != sizeof answer) answer = {ECHILD, ECHILD};
    ::waitpid(static_cast<pid_t>(pid), nullptr, 0);
  }
  ::close(ends[0]);
  return answer;
}

Wall wall(const std::string& name, int error, const std::string& call) {
  return {name, error == 0, error == 0 ? "" : fmt::format("{}: {}", call, std::strerror(error))};
}

MachineWalls probe() {
  MachineWalls machine;
  const int user_error = try_clone(CLONE_NEWUSER);
  machine.user_namespace = user_error == 0;
  machine.walls.push_back(wall("user_namespace", user_error, "clone(CLONE_NEWUSER)"));
  const int base = machine.user_namespace ? CLONE_NEWUSER : 0;
  const struct {
    int flag;
    const char *name, *call;
    bool MachineWalls::*standing;
  } namespaces[] = {{CLONE_NEWNS, "mount_namespace", "clone(CLONE_NEWNS)", &MachineWalls::mount_namespace},
                    {CLONE_NEWPID, "pid_namespace", "clone(CLONE_NEWPID)", &MachineWalls::pid_namespace},
                    {CLONE_NEWNET, "network_namespace", "clone(CLONE_NEWNET)", &MachineWalls::network_namespace},
                    {CLONE_NEWIPC, "ipc_namespace", "clone(CLONE_NEWIPC)", &MachineWalls::ipc_namespace},
                    {CLONE_NEWUTS, "uts_namespace", "clone(CLONE_NEWUTS)", &MachineWalls::uts_namespace}};
  machine.clone_flags = base;
  for (const auto& one : namespaces) {
    const int error = try_clone(base | one.flag);
    machine.*one.standing = error == 0;
    if (error == 0) machine.clone_flags |= one.flag;
    machine.walls.push_back(wall(one.name, error, one.call));
  }
  if (machine.mount_namespace) {
    const MountAnswer answer = try_mounts(machine.clone_flags);
    if (answer.root != 0) {
      machine.mount_namespace = false;
      machine.clone_flags &= ~CLONE_NEWNS;
      machine.walls[1] = wall("mount_namespace", answer.root, "mounting a root in it");
    }
    machine.fresh_proc = machine.mount_namespace && answer.proc == 0;
    machine.walls.push_back(wall("private_proc", answer.root != 0 ? answer.root : answer.proc, "mounting /proc"));
  } else {
    machine.walls.push_back({"private_proc", false, "there is no mount namespace"});
  }
  const bool privileged = ::geteuid() == 0;
  machine.walls.push_back(
      {"unprivileged_user", machine.user_namespace || privileged,
       machine.user_namespace || privileged ? "" : "without a user namespace only root can change to another user"});
  machine.walls.push_back(
      wall("seccomp", ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 ? 0 : errno, "prctl(PR_GET_SECCOMP)"));
  machine.landlock_abi = landlock_abi();
  machine.walls.push_back(wall("landlock", machine.landlock_abi > 0 ? 0 : errno, "landlock_create_ruleset"));
  machine.walls.push_back({"rlimits", true, ""});
  return machine;
}

}  // namespace

const MachineWalls& machine_walls() {
  static const MachineWalls machine = probe();
  return machine;
}

const std::vector<Wall>& jail_walls() {
  static const std::vector<Wall> walls = [] {
    std::vector<Wall> all = machine_walls().walls;
    const auto& memory = Cgroup::memory_place();
    const auto& pids = Cgroup::pids_place();
    all.push_back({"cgroup_memory", !memory.folder.empty(), memory.reason});
    all.push_back({"cgroup_pids", !pids.folder.empty(), pids.reason});
    return all;
  }();
  return walls;
}

}  // namespace whet
