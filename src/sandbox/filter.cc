// SPDX-License-Identifier: Apache-2.0
#include "sandbox/filter.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "sandbox/runner_filter.h"

namespace whet {
namespace {

using Filter = std::unique_ptr<void, decltype(&seccomp_release)>;

// No honest kernel, and no compiler, makes these calls.
constexpr const char* kAlwaysForbidden[] = {"ptrace",
                                            "process_vm_readv",
                                            "process_vm_writev",
                                            "pidfd_getfd",
                                            "kcmp",
                                            "mount",
                                            "umount2",
                                            "pivot_root",
                                            "chroot",
                                            "unshare",
                                            "setns",
                                            "open_tree",
                                            "move_mount",
                                            "fsopen",
                                            "fsmount",
                                            "fsconfig",
                                            "fspick",
                                            "mount_setattr",
                                            "bpf",
                                            "keyctl",
                                            "add_key",
                                            "request_key",
                                            "userfaultfd",
                                            "kexec_load",
                                            "kexec_file_load",
                                            "init_module",
                                            "finit_module",
                                            "delete_module",
                                            "reboot",
                                            "swapon",
                                            "swapoff",
                                            "acct",
                                            "settimeofday",
                                            "clock_settime",
                                            "clock_adjtime",
                                            "adjtimex",
                                            "iopl",
                                            "ioperm",
                                            "open_by_handle_at",
                                            "fanotify_init",
                                            "vhangup",
                                            "sethostname",
                                            "setdomainname",
                                            "quotactl",
                                            "syslog"};
// A library may probe for these and do without.
constexpr const char* kAlwaysRefused[] = {
    "perf_event_open", "io_uring_setup", "io_uring_enter", "io_uring_register", "personality", "name_to_handle_at",
    "move_pages",      "migrate_pages",  "memfd_secret",   "process_madvise",   "modify_ldt",  "lookup_dcookie",
    "nfsservctl",      "mq_open",        "mq_notify",      "pidfd_send_signal"};
// Starting processes; clone is treated by its flags.
constexpr const char* kRunnerForbidden[] = {"fork", "vfork", "execve", "execveat"};
// timer_create and F_SETSIG could send SIGCONT to a process that the judge has frozen.
constexpr const char* kRunnerRefused[] = {"timer_create", "tkill", "seccomp"};

struct Builder {
  Filter filter{seccomp_init(SCMP_ACT_ALLOW), &seccomp_release};
  int failed = 0;

  Builder() { note(filter ? 0 : -ENOMEM); }
  void note(int code) {
    if (code < 0 && failed == 0) failed = -code;
  }
  // Names that this libseccomp or this architecture does not know do not exist here.
  template <class Names>
  void all(uint32_t action, const Names& names) {
    for (const char* name : names)
      if (const int number = seccomp_syscall_resolve_name(name); number >= 0)
        note(seccomp_rule_add_array(filter.get(), action, number, 0, nullptr));
  }
  template <class... Comparisons>
  void when(uint32_t action, const char* name, Comparisons... comparisons) {
    const int number = seccomp_syscall_resolve_name(name);
    const std::array<scmp_arg_cmp, sizeof...(comparisons)> rules{comparisons...};
    if (number >= 0) note(seccomp_rule_add_array(filter.get(), action, number, rules.size(), rules.data()));
  }
};

scmp_arg_cmp argument_is(unsigned index, uint64_t value) { return {index, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp argument_is_not(unsigned index, uint64_t value) { return {index, SCMP_CMP_NE, value, 0}; }
scmp_arg_cmp argument_bits_are(unsigned index, uint64_t mask, uint64_t value) {
  return {index, SCMP_CMP_MASKED_EQ, mask, value};
}

void add_common_rules(Builder& builder, uint32_t forbidden, bool local_sockets) {
  const uint32_t refused = SCMP_ACT_ERRNO(EPERM);
  builder.all(forbidden, kAlwaysForbidden);
  for (const char* name : {"socket", "socketpair"}) {
    if (local_sockets) builder.when(forbidden, name, argument_is_not(0, AF_UNIX));
    else builder.all(forbidden, std::array{name});
  }
  builder.all(refused, kAlwaysRefused);
  // clone3 passes its flags in memory, where no filter can see them; glibc then uses clone.
  if (const int number = seccomp_syscall_resolve_name("clone3"); number >= 0)
    builder.note(seccomp_rule_add_array(builder.filter.get(), SCMP_ACT_ERRNO(ENOSYS), number, 0, nullptr));
  for (const uint64_t flag :
       {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, CLONE_NEWCGROUP})
    builder.when(forbidden, "clone", argument_bits_are(0, flag, flag));
}

void add_runner_rules(Builder& builder, RunnerFilter kind) {
  const uint32_t refused = SCMP_ACT_ERRNO(EPERM), trap = kind == RunnerFilter::python ? refused : SCMP_ACT_TRAP;
  if (kind == RunnerFilter::library) {
    builder.all(trap, kRunnerForbidden);
    builder.when(trap, "clone", argument_bits_are(0, CLONE_THREAD, 0));
  }
  builder.all(refused, kRunnerRefused);
  const auto self = static_cast<uint64_t>(::getpid());
  for (const char* name : {"kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"})
    builder.when(trap, name, argument_is_not(0, self));
  builder.when(refused, "fcntl", argument_is(1, F_SETSIG));
  for (const uint64_t option :
       {PR_SET_SECCOMP, PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_MM, PR_SET_PTRACER, PR_SET_CHILD_SUBREAPER})
    builder.when(refused, "prctl", argument_is(0, option));
  builder.when(refused, "rt_sigaction", argument_is(0, SIGSYS));  // the handler stays ours
  // Answered with success and not done: OpenMP run times that bind their threads go on, on the cores that the judge chose.
  builder.all(SCMP_ACT_ERRNO(0), std::array{"sched_setaffinity"});
}

Status finished(const Builder& builder) {
  if (builder.failed != 0) return system_error("cannot build the filter of system calls", builder.failed);
  return {};
}

Expected<std::vector<sock_filter>> exported(const Builder& builder) {
  Descriptor file(::memfd_create("filter", MFD_CLOEXEC));
  if (!file) return system_error("cannot make a memory file for the filter of system calls", errno);
  if (const int code = seccomp_export_bpf(builder.filter.get(), file.get()); code < 0)
    return system_error("cannot export the filter of system calls", -code);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  std::vector<sock_filter> program(static_cast<size_t>(size) / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), static_cast<size_t>(size), 0) != size)
    return system_error("cannot read the filter of system calls", errno);
  return program;
}

// Names of all calls that trap, by number, made before the filter stands: the handler may not allocate.
std::array<const char*, 1024> trapped_names;

void write_text(const char* text) {
  if (::write(2, text, std::strlen(text)) < 0) return;
}

constexpr std::string_view kForbiddenLine = "whet: forbidden system call: ";

// Past whatever wraps _exit: a sanitizer takes its locks around fork, and would wait for them here for ever.
[[noreturn]] void end_at_once(int code) {
  for (;;) ::syscall(SYS_exit_group, code);
}

void on_forbidden(int, siginfo_t* about, void*) {
  const auto number = static_cast<size_t>(about->si_syscall);
  const char* name = number < trapped_names.size() ? trapped_names[number] : nullptr;
  write_text("\nwhet: forbidden system call: ");
  write_text(name != nullptr ? name : "unknown");
  write_text("\n");
  end_at_once(kForbiddenExit);
}

void on_abort(int) { end_at_once(kAbortExit); }

void remember_names() {
  auto remember = [](const char* name) {
    if (const int number = seccomp_syscall_resolve_name(name);
        number >= 0 && static_cast<size_t>(number) < trapped_names.size())
      trapped_names[static_cast<size_t>(number)] = name;
  };
  for (const char* name : kAlwaysForbidden) remember(name);
  for (const char* name : kRunnerForbidden) remember(name);
  for (const char* name : {"socket", "socketpair", "clone", "kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"}) remember(name);
}

Status handle_signals() {
  struct sigaction forbidden {
  }, abort{};
  forbidden.sa_sigaction = on_forbidden;
  forbidden.sa_flags = SA_SIGINFO;
  abort.sa_handler = on_abort;
  if (::sigaction(SIGSYS, &forbidden, nullptr) != 0 || ::sigaction(SIGABRT, &abort, nullptr) != 0)
    return system_error("cannot handle SIGSYS", errno);
  return {};
}

}  // namespace

// A runner and a build start alike: a runner must still be executed, and load its libraries. What sets it apart comes from inside it. Only for a GPU
// there is more: its driver makes a socket of the abstract kind at cuInit, which reaches nobody outside the network namespace.
Expected<std::vector<sock_filter>> start_filter(SyscallProfile profile) {
  const auto make = [](bool local_sockets) -> Expected<std::vector<sock_filter>> {
    Builder builder;
    add_common_rules(builder, SCMP_ACT_ERRNO(EPERM), local_sockets);
    WHET_OK(finished(builder));
    return exported(builder);
  };
  static const Expected<std::vector<sock_filter>> usual = make(false), with_sockets = make(true);
  return profile == SyscallProfile::gpu_runner ? with_sockets : usual;
}

Status enter_runner_filter(RunnerFilter kind) {
  remember_names();
  WHET_OK(handle_signals());
  if (kind == RunnerFilter::library && ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return system_error("cannot make the process undumpable", errno);
  Builder builder;
  add_common_rules(builder, kind == RunnerFilter::python ? SCMP_ACT_ERRNO(EPERM) : SCMP_ACT_TRAP, false);
  add_runner_rules(builder, kind);
  builder.note(seccomp_attr_set(builder.filter.get(), SCMP_FLTATR_CTL_TSYNC, 1));
  builder.note(seccomp_attr_set(builder.filter.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
  WHET_OK(finished(builder));
  if (const int code = seccomp_load(builder.filter.get()); code < 0)
    return system_error("cannot install the filter of system calls", -code);
  return {};
}

std::optional<std::string> forbidden_syscall_in(const std::string& output) {
  const size_t at = output.rfind(kForbiddenLine);
  if (at == std::string::npos) return std::nullopt;
  const size_t begin = at + kForbiddenLine.size();
  return output.substr(begin, output.find('\n', begin) - begin);
}

}  // namespace whet
