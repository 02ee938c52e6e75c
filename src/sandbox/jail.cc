// SPDX-License-Identifier: Apache-2.0
#include "sandbox/jail.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <set>

#include "base/file.h"
#include "base/process.h"
#include "sandbox/cgroup.h"
#include "sandbox/plan.h"
#include "sandbox/runner_filter.h"

namespace whet {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

struct Jailed::State {
  pid_t pid = -1;
  Descriptor pidfd;
  Descriptor output_end;
  BoundedText output;
  Cgroup group;
  std::vector<Wall> walls;
  TemporaryDirectory host_scratch;
  std::optional<JailExit> exit;
  bool frozen = false;
  bool killed_by_us = false;
  bool ends_together =
      true;  // a pid namespace stands: what process 1 leaves behind is gone before it can be waited for

  void drain();
  void end_the_rest() const;
  void collect(const siginfo_t& info);
};

namespace {

struct Pipe {
  Descriptor read_end, write_end;
};

Expected<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe for a jail", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

Status write_proc(pid_t pid, const char* name, const std::string& text) {
  const std::string path = fmt::format("/proc/{}/{}", pid, name);
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error("cannot write \"" + text + "\" to " + path, errno);
  return {};
}

// Only one user exists inside. When we are root it is nobody outside too: a process that is mapped to the real root could write to /etc.
Status map_user(pid_t pid) {
  const uid_t user = ::geteuid() == 0 ? kJailUser : ::geteuid();
  const gid_t group = ::geteuid() == 0 ? kJailUser : ::getegid();
  if (::geteuid() != 0) WHET_OK(write_proc(pid, "setgroups", "deny"));
  WHET_OK(write_proc(pid, "uid_map", fmt::format("{} {} 1", kJailUser, user)));
  return write_proc(pid, "gid_map", fmt::format("{} {} 1", kJailUser, group));
}

Status give_folders(const JailSpec& spec, const std::string& host_scratch) {
  if (::geteuid() != 0) return {};
  for (const Bind& bind : spec.writable)
    if (::chown(bind.host.c_str(), kJailUser, kJailUser) != 0)
      return system_error("cannot give " + bind.host + " to a jail", errno);
  if (!host_scratch.empty() && ::chown(host_scratch.c_str(), kJailUser, kJailUser) != 0)
    return system_error("cannot give " + host_scratch + " to a jail", errno);
  return {};
}

Status plan_descriptors(InsidePlan& plan, const JailSpec& spec, int null_end, int output_end) {
  plan.descriptors = spec.descriptors;
  std::set<int> given;
  for (const auto& [ours, inside] : spec.descriptors)
    if (ours < 0 || inside < 0 || inside > 100 || !given.insert(inside).second)
      return bad_input("descriptor {} cannot be number {} in a jail: expected 0 to 100, each once", ours, inside);
  if (!given.contains(0)) plan.descriptors.emplace_back(null_end, 0);
  for (const int stream : {1, 2})
    if (!given.contains(stream)) plan.descriptors.emplace_back(output_end, stream);
  if (plan.descriptors.size() > 60) return bad_input("{} descriptors are too many for a jail", plan.descriptors.size());
  return {};
}

// No handler of ours may run in the child, and no signal may be lost to it.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

struct Child {
  pid_t pid = -1;
  int pidfd = -1;
};

Expected<Child> clone_child(const InsidePlan& plan, int flags) {
  AllSignalsBlocked blocked;
  Child child;
  // A copy of our memory until exec, without CLONE_VM: the child changes its user, which would make a shared memory undumpable for us too.
  const long pid = ::syscall(SYS_clone, flags | CLONE_PIDFD | SIGCHLD, nullptr, &child.pidfd, nullptr, 0);
  if (pid == 0) become_payload(plan);
  if (pid < 0) return system_error("cannot clone a process for a jail", errno);
  child.pid = static_cast<pid_t>(pid);
  return child;
}

// Until the child's exec closed its end of the pipe.
Status read_report(int report, const std::string& program) {
  StepFailure failure{};
  ssize_t got = 0;
  while ((got = ::read(report, &failure, sizeof failure)) < 0 && errno == EINTR) {}
  if (got == static_cast<ssize_t>(sizeof failure))
    return machine_failed("cannot start {} in a jail: {}: {}", program, failure.step,
                          std::strerror(failure.error_number));
  return {};
}

void note_groups(std::vector<Wall>& walls, const Cgroup& group) {
  walls.push_back({"cgroup_memory", group.memory_refused().empty(), group.memory_refused()});
  walls.push_back({"cgroup_pids", group.pids_refused().empty(), group.pids_refused()});
}

std::vector<pid_t> session_members(pid_t leader) {
  std::vector<pid_t> pids;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator("/proc", code)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto stat = read_file(entry.path() / "stat", 4096);
    if (!stat) continue;
    char state = 0;
    int parent = 0, group = 0, session = 0;
    const size_t after_name = stat->rfind(')');
    if (after_name == std::string::npos ||
        std::sscanf(stat->c_str() + after_name + 1, " %c %d %d %d", &state, &parent, &group, &session) != 4)
      continue;
    if (session == leader && state != 'Z' && state != 'X') pids.push_back(std::stoi(name));
  }
  return pids;
}

std::string describe(const JailExit& exit) {
  std::string text;
  if (exit.killed_by_us) text = "was killed by the judge";
  else if (exit.killed_from_outside) text = "was killed from outside (by somebody, or by a machine out of memory)";
  else if (!exit.forbidden_syscall.empty()) text = "made the forbidden system call " + exit.forbidden_syscall;
  else if (exit.signal != 0) text = fmt::format("ended by signal {} ({})", exit.signal, ::strsignal(exit.signal));
  else text = fmt::format("ended with exit code {}", exit.code);
  if (exit.memory_limit_hit) text += "; it had used all the memory that it may use";
  if (exit.process_limit_hit) text += "; it had tried to start more processes or threads than it may";
  return text;
}

}  // namespace

void Jailed::State::drain() {
  char chunk[1 << 16];
  // Bounded: a payload that writes without end must not hold us here.
  for (int i = 0; output_end && i < 64; ++i) {
    const ssize_t got = ::read(output_end.get(), chunk, sizeof chunk);
    if (got > 0) output.append({chunk, static_cast<size_t>(got)});
    else if (got == 0 || (errno != EAGAIN && errno != EINTR)) output_end.reset();
    else break;
  }
}

void Jailed::State::collect(const siginfo_t& info) {
  if (!ends_together) end_the_rest();
  drain();
  JailExit end;
  if (info.si_code == CLD_EXITED) end.code = info.si_status;
  else end.signal = info.si_status;
  end.killed_by_us = killed_by_us;
  if (end.code == kAbortExit) {
    end.code = -1;
    end.signal = SIGABRT;
  }
  if (end.code == kForbiddenExit) end.forbidden_syscall = forbidden_syscall_in(output.text()).value_or("(unnamed)");
  end.memory_limit_hit = group.memory_limit_hit();
  end.process_limit_hit = group.tasks_limit_hit();
  // The kernel lets process 1 of a namespace be killed from above only; and by itself for a limit: memory, or processor time, of which process 1 of
  // a build (the compiler's driver) uses none.
  end.killed_from_outside = end.signal == SIGKILL && ends_together && !killed_by_us && !end.memory_limit_hit;
  end.sentence = describe(end);
  exit = end;
  frozen = false;
}

// Without a pid namespace, children of the payload outlive it. They are found by their group, or by the session that the payload led.
void Jailed::State::end_the_rest() const {
  for (int round = 0; round < 100; ++round) {
    std::vector<pid_t> rest = group.has_pids() || group.has_memory() ? group.members() : session_members(pid);
    if (rest.empty()) return;
    for (const pid_t one : rest) ::kill(one, SIGKILL);
    ::usleep(200);  // they are on their way out; a fork bomb may have made more
  }
}

Jailed::Jailed() = default;
Jailed::Jailed(std::unique_ptr<State> state) : state_(std::move(state)) {}
Jailed::Jailed(Jailed&&) noexcept = default;
Jailed& Jailed::operator=(Jailed&& other) noexcept {
  if (this != &other) {
    kill();
    state_ = std::move(other.state_);
  }
  return *this;
}
Jailed::~Jailed() { kill(); }

Expected<Jailed> Jailed::start(const JailSpec& spec) {
  const MachineWalls& machine = machine_walls();
  auto state = std::make_unique<State>();
  if (spec.scratch_bytes > 0 && !machine.mount_namespace) {
    WHET_TRY(state->host_scratch, TemporaryDirectory::make("whet-scratch"));
  }
  const std::string host_scratch = state->host_scratch.path().string();
  WHET_TRY(InsidePlan plan, plan_jail(spec, machine, host_scratch));
  WHET_OK(give_folders(spec, host_scratch));

  state->output = BoundedText(spec.max_output);
  state->group = Cgroup::make(spec.limits.memory_bytes, spec.limits.processes);
  plan_limits(plan, spec.limits, machine, state->group.memory_refused().empty(), state->group.pids_refused().empty());
  WHET_TRY(Pipe output, make_pipe());
  WHET_TRY(Pipe go, make_pipe());
  WHET_TRY(Pipe report, make_pipe());
  ::fcntl(output.read_end.get(), F_SETFL, O_NONBLOCK);
  if (spec.output == JailOutput::lossy) ::fcntl(output.write_end.get(), F_SETFL, O_NONBLOCK);
  else ::fcntl(output.read_end.get(), F_SETPIPE_SZ, 1 << 18);
  const Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  WHET_OK(plan_descriptors(plan, spec, null.get(), output.write_end.get()));
  const Descriptor ourselves(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  plan.parent = ourselves.get();
  plan.go_read = go.read_end.get();
  plan.go_write = go.write_end.get();
  plan.report_write = report.write_end.get();

  WHET_TRY(const Child child, clone_child(plan, machine.clone_flags));
  state->pid = child.pid;
  state->pidfd.reset(child.pidfd);
  state->output_end = std::move(output.read_end);
  Jailed jailed(std::move(state));  // from here on, a failure kills the child
  State& running = *jailed.state_;
  report.write_end.reset();
  output.write_end.reset();
  running.ends_together = machine.pid_namespace;
  if (machine.user_namespace) WHET_OK(map_user(child.pid));
  running.group.add(child.pid);
  running.walls = machine.walls;
  note_groups(running.walls, running.group);
  const char byte = 1;
  if (::write(go.write_end.get(), &byte, 1) != 1) return system_error("cannot let a jail start", errno);
  WHET_OK(read_report(report.read_end.get(), spec.argv[0]));
  return jailed;
}

pid_t Jailed::pid() const { return state_ ? state_->pid : -1; }

const std::vector<Wall>& Jailed::walls() const {
  static const std::vector<Wall> none;
  return state_ ? state_->walls : none;
}

bool Jailed::frozen() const { return state_ && state_->frozen; }

Status Jailed::freeze() {
  if (!state_ || state_->exit) return machine_failed("cannot freeze a jail that has ended");
  if (state_->frozen) return {};
  const auto pid = static_cast<id_t>(state_->pid);
  ::kill(state_->pid, SIGSTOP);
  // The kernel reports the stop when the last thread has stopped. A thread that waits for our core can stop only when we sleep: so we ask
  // twice and then sleep until it is so.
  for (int attempt = 0;; ++attempt) {
    siginfo_t info{};
    const int options = WSTOPPED | WEXITED | WNOWAIT | (attempt < 2 ? WNOHANG : 0);
    if (::waitid(P_PID, pid, &info, options) != 0) {
      if (errno == EINTR) continue;
      return system_error("cannot freeze a jail", errno);
    }
    if (info.si_pid == 0) continue;
    if (info.si_code != CLD_STOPPED) {
      WHET_TRY(const auto end, poll());
      return machine_failed("the jail ended while it was being frozen: {}", end ? end->sentence : "unknown");
    }
    ::waitid(P_PID, pid, &info, WSTOPPED | WNOHANG);
    state_->frozen = true;
    return {};
  }
}

Status Jailed::thaw() {
  if (!state_ || state_->exit) return machine_failed("cannot thaw a jail that has ended");
  if (!state_->frozen) return {};
  const auto pid = static_cast<id_t>(state_->pid);
  siginfo_t before{}, after{};
  const int looked = ::waitid(P_PID, pid, &before, WCONTINUED | WEXITED | WNOHANG | WNOWAIT);
  state_->frozen = false;
  if (looked == 0 && before.si_pid != 0) {
    if (before.si_code == CLD_CONTINUED) {
      ::waitid(P_PID, pid, &after, WCONTINUED | WNOHANG);
      return machine_failed("the payload went on by itself while it was frozen");
    }
    WHET_TRY(const auto end, poll());
    return machine_failed("the jail ended while it was frozen: {}", end ? end->sentence : "unknown");
  }
  ::kill(state_->pid, SIGCONT);
  // Taken away now, so that the next thaw() can tell a continuation that was not ours.
  ::waitid(P_PID, pid, &after, WCONTINUED | WNOHANG);
  return {};
}

void Jailed::kill() {
  if (!state_ || state_->exit || state_->pid < 0) return;
  state_->killed_by_us = true;
  ::kill(state_->pid, SIGKILL);
  siginfo_t info{};
  // Process 1 of a pid namespace can only be waited for when all others in it are gone.
  while (::waitid(P_PID, static_cast<id_t>(state_->pid), &info, WEXITED) != 0 && errno == EINTR) {}
  // It may have ended by itself just before.
  if (info.si_code != CLD_KILLED || info.si_status != SIGKILL) state_->killed_by_us = false;
  state_->collect(info);
}

Expected<std::optional<JailExit>> Jailed::poll() {
  if (!state_) return machine_failed("there is no jail");
  if (state_->exit) return state_->exit;
  state_->drain();
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(state_->pid), &info, WEXITED | WNOHANG) != 0)
    return system_error("cannot wait for a jail", errno);
  if (info.si_pid != 0) state_->collect(info);
  return state_->exit;
}

Expected<std::optional<JailExit>> Jailed::wait(std::chrono::nanoseconds at_most) {
  const auto until = Clock::now() + at_most;
  while (true) {
    WHET_TRY(auto end, poll());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (end || left <= 0) return end;
    pollfd watch[2] = {{state_->pidfd.get(), POLLIN, 0}, {state_->output_end.get(), POLLIN, 0}};
    ::poll(watch, 2, static_cast<int>(std::min<long long>(left, 1'000'000)));
  }
}

std::string Jailed::output() {
  if (!state_) return {};
  state_->drain();
  return state_->output.text();
}

uint64_t Jailed::output_bytes() const { return state_ ? state_->output.total() : 0; }

uint64_t Jailed::memory_bytes() const {
  if (!state_) return 0;
  if (state_->group.has_memory()) return state_->group.memory_bytes();
  const auto text = read_file(fmt::format("/proc/{}/statm", state_->pid), 4096);
  if (!text) return 0;
  uint64_t pages = 0;
  const size_t second = text->find(' ') + 1;
  std::from_chars(text->data() + second, text->data() + text->size(), pages);
  return pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

uint64_t Jailed::memory_peak_bytes() const { return state_ ? state_->group.memory_peak_bytes() : 0; }

uint64_t Jailed::task_count() const {
  if (!state_ || state_->exit) return 0;
  if (state_->group.has_pids()) return state_->group.tasks();
  std::error_code code;
  fs::directory_iterator tasks(fmt::format("/proc/{}/task", state_->pid), code);
  return code ? 0 : static_cast<uint64_t>(std::distance(tasks, fs::directory_iterator()));
}

}  // namespace whet
