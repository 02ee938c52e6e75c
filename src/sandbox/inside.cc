// SPDX-License-Identifier: Apache-2.0
// Only system calls and plain loops here: see inside.h.
#include "sandbox/inside.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sandbox/landlock.h"

#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE 1
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE 0x8000
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH 4
#endif
#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

namespace whet {
namespace {

struct MountAttributes {
  uint64_t set, clear, propagation, userns;
};
constexpr uint64_t kMountReadOnly = 1, kMountNoSuid = 2, kMountNoDev = 4;
constexpr unsigned kCloseRangeCloexec = 4;
constexpr int kMaxMounts = 256;

struct Reporter {
  int write_end;

  [[noreturn]] void fail(const char* step, const char* what) const {
    StepFailure failure{errno, {}};
    size_t at = 0;
    for (const char* text : {step, " ", what})
      for (; *text != '\0' && at + 1 < sizeof failure.step; ++text) failure.step[at++] = *text;
    if (::write(write_end, &failure, sizeof failure) < 0) ::_exit(126);
    ::_exit(127);
  }
  void need(bool ok, const char* step, const char* what = "") const {
    if (!ok) fail(step, what);
  }
};

int set_mount_attributes(int fd, const char* path, uint64_t set) {
  const MountAttributes attributes{set, 0, 0, 0};
  return static_cast<int>(
      ::syscall(SYS_mount_setattr, fd, path, AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes));
}

int clone_tree(const char* host) {
  return static_cast<int>(::syscall(SYS_open_tree, AT_FDCWD, host, OPEN_TREE_CLONE | AT_RECURSIVE | O_CLOEXEC));
}

// Host paths are looked up as the parent's user, who may see them; everything that is made belongs to the jail's user.
void clone_host_trees(const InsidePlan& plan, const Reporter& report, int* trees) {
  report.need(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0, "make mounts private");
  for (size_t i = 0; i < plan.mounts.size(); ++i) {
    const auto& mount = plan.mounts[i];
    trees[i] = clone_tree(mount.host.c_str());
    report.need(trees[i] >= 0, "bind", mount.host.c_str());
    const uint64_t set = kMountNoSuid | (mount.with_devices ? 0 : kMountNoDev) | (mount.writable ? 0 : kMountReadOnly);
    report.need(set_mount_attributes(trees[i], "", set) == 0, "protect the bind of", mount.host.c_str());
  }
}

void become_user(const InsidePlan& plan, const Reporter& report) {
  if (!plan.change_user) return;
  // Raw calls: glibc's wrappers would try to change all threads that it believes to exist.
  if (plan.clear_groups) report.need(::syscall(SYS_setgroups, 0, nullptr) == 0, "clear groups");
  report.need(::syscall(SYS_setresgid, plan.user, plan.user, plan.user) == 0, "change the group");
  report.need(::syscall(SYS_setresuid, plan.user, plan.user, plan.user) == 0, "change the user");
}

void build_root(const InsidePlan& plan, const Reporter& report, const int* trees) {
  report.need(::mount("jail", "/usr", "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0755") == 0, "mount a root");
  report.need(::chdir("/usr") == 0, "enter the root");
  for (const auto& folder : plan.folders)
    report.need(::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST, "make the folder", folder.c_str());
  for (const auto& file : plan.files) {
    const int made = ::open(file.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
    report.need(made >= 0, "make the file", file.c_str());
    ::close(made);
  }
  for (const auto& [target, path] : plan.symlinks)
    report.need(::symlink(target.c_str(), path.c_str()) == 0, "make the link", path.c_str());
  for (size_t i = 0; i < plan.mounts.size(); ++i) {
    const char* inside = plan.mounts[i].inside.c_str();
    report.need(::syscall(SYS_move_mount, trees[i], "", AT_FDCWD, inside, MOVE_MOUNT_F_EMPTY_PATH) == 0,
                "place the bind", inside);
    ::close(trees[i]);
  }
  if (plan.proc_mount)
    report.need(::mount("proc", "proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0, "mount /proc");
  if (!plan.scratch.empty())
    report.need(
        ::mount("scratch", plan.scratch.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, plan.scratch_options.c_str()) == 0,
        "mount the scratch");
  report.need(::syscall(SYS_pivot_root, ".", ".") == 0, "pivot_root");
  report.need(::umount2(".", MNT_DETACH) == 0, "leave the old root");
  report.need(::chdir("/") == 0, "enter the new root");
  const MountAttributes read_only{kMountReadOnly, 0, 0, 0};
  report.need(::syscall(SYS_mount_setattr, AT_FDCWD, "/", 0, &read_only, sizeof read_only) == 0,
              "make the root read-only");
}

void reset_signals(const Reporter& report) {
  for (int number = 1; number < 65; ++number) {
    if (number == SIGKILL || number == SIGSTOP) continue;
    // The kernel's own layout: handler, flags, restorer, mask. All zero is SIG_DFL.
    const unsigned long action[4] = {};
    ::syscall(SYS_rt_sigaction, number, action, nullptr, 8);
  }
  const unsigned long nothing = 0;
  report.need(::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &nothing, nullptr, 8) == 0, "unblock signals");
}

void drop_capabilities(const Reporter& report) {
  for (int capability = 0; capability < 64; ++capability) ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  report.need(::syscall(SYS_capset, &header, none) == 0, "drop capabilities");
}

void restrict_paths(const InsidePlan& plan, const Reporter& report) {
  if (!plan.landlock) return;
  const int ruleset = landlock_new_ruleset(plan.landlock_abi);
  report.need(ruleset >= 0, "make a Landlock ruleset");
  for (const auto& rule : plan.landlock_rules)
    report.need(landlock_allow(ruleset, plan.landlock_abi, rule.path.c_str(), rule.writable, rule.folder) == 0,
                "allow by Landlock", rule.path.c_str());
  report.need(landlock_restrict(ruleset) == 0, "enter the Landlock domain");
  ::close(ruleset);
}

// Moves the payload's descriptors to their numbers; all others close at exec. The report's own end comes to lie above them.
int place_descriptors(const InsidePlan& plan, const Reporter& report) {
  int highest = 2;
  for (const auto& [ours, inside] : plan.descriptors) highest = inside > highest ? inside : highest;
  int moved[64];
  for (size_t i = 0; i < plan.descriptors.size(); ++i) {
    moved[i] = ::fcntl(plan.descriptors[i].first, F_DUPFD_CLOEXEC, highest + 1);
    report.need(moved[i] >= 0, "keep a descriptor");
  }
  const int report_end = ::fcntl(report.write_end, F_DUPFD_CLOEXEC, highest + 1);
  report.need(report_end >= 0, "keep the report");
  report.need(::syscall(SYS_close_range, 0, ~0u, kCloseRangeCloexec) == 0, "close descriptors");
  for (size_t i = 0; i < plan.descriptors.size(); ++i)
    report.need(::dup2(moved[i], plan.descriptors[i].second) >= 0, "place a descriptor");
  return report_end;
}

}  // namespace

void become_payload(const InsidePlan& plan) {
  Reporter report{plan.report_write};
  ::close(plan.go_write);
  // The order matters: after prctl the parent's death kills us; if it died before, the pipe is at its end.
  report.need(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "ask for the parent's death signal");
  char go = 0;
  while (::read(plan.go_read, &go, 1) < 0 && errno == EINTR) {}
  if (go != 1) ::_exit(127);

  int trees[kMaxMounts];
  if (plan.mounts.size() > kMaxMounts) report.fail("too many binds", "");
  if (plan.mount_namespace) clone_host_trees(plan, report, trees);
  become_user(plan, report);
  // A new user clears it; whether the parent died in between is looked at when the root stands.
  report.need(::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0, "ask for the parent's death signal again");
  if (plan.mount_namespace) build_root(plan, report, trees);
  if (plan.hostname) report.need(::sethostname("jail", 4) == 0, "set the host name");
  pollfd parent{plan.parent, POLLIN, 0};
  if (::poll(&parent, 1, 0) > 0) ::_exit(127);
  if (plan.new_session) ::setsid();
  reset_signals(report);
  ::umask(022);
  report.need(::chdir(plan.working_directory.c_str()) == 0, "enter the working directory",
              plan.working_directory.c_str());
  if (!plan.core_mask.empty())
    report.need(
        ::syscall(SYS_sched_setaffinity, 0, plan.core_mask.size() * sizeof(unsigned long), plan.core_mask.data()) == 0,
        "pin to the cores");
  report.write_end = place_descriptors(plan, report);
  drop_capabilities(report);
  report.need(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "set no_new_privs");
  restrict_paths(plan, report);
  for (const auto& [resource, limit] : plan.limits)
    report.need(::syscall(SYS_prlimit64, 0, resource, &limit, nullptr) == 0, "set a resource limit");
  if (!plan.filter.empty()) {
    const sock_fprog program{static_cast<unsigned short>(plan.filter.size()),
                             const_cast<sock_filter*>(plan.filter.data())};
    report.need(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0,
                "install the filter of system calls");
  }
  ::execve(plan.argv[0], plan.argv.data(), plan.environment.data());
  report.fail("execute", plan.argv[0]);
}

}  // namespace whet
