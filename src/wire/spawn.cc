// SPDX-License-Identifier: Apache-2.0
#include "wire/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace whet {
namespace {

struct Pipe {
  Descriptor read_end, write_end;
};

Expected<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("make a pipe to the worker", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Moves a descriptor to 10 or above, so that no dup2() below can overwrite one that is still needed.
int lift(int descriptor) { return fcntl(descriptor, F_DUPFD, 10); }

// Between fork and exec: only calls that are safe after fork in a program with threads. Reports errno through `report` and ends.
[[noreturn]] void become(char* const* argv, char* const* environment, int in, int out, int err, int report, pid_t parent) {
  report = fcntl(report, F_DUPFD_CLOEXEC, 10);
  in = lift(in), out = lift(out), err = lift(err);
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (int number = 1; number < 32; ++number) sigaction(number, &by_default, nullptr);
  // A Ctrl-C that came to the whole group between fork and setpgid is pending now: the client decides what it means, not we.
  struct sigaction ignored_signal {};
  ignored_signal.sa_handler = SIG_IGN;
  sigaction(SIGINT, &ignored_signal, nullptr);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);  // it died before the line above
  bool wired = dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 && dup2(report, 3) == 3 && fcntl(3, F_SETFD, FD_CLOEXEC) == 0;
  if (wired) {
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 4u, ~0u, 0u) != 0)
#endif
      for (int descriptor = 4; descriptor < 65536; ++descriptor) close(descriptor);
    report = 3;
    execve(argv[0], argv, environment);
  }
  int error = errno;
  [[maybe_unused]] auto ignored = write(report, &error, sizeof error);
  _exit(127);
}

}  // namespace

Expected<WorkerProcess> WorkerProcess::start(const std::vector<std::string>& argv, const std::map<std::string, std::string>& environment) {
  WHET_TRY(Pipe in, make_pipe());
  WHET_TRY(Pipe out, make_pipe());
  WHET_TRY(Pipe err, make_pipe());
  WHET_TRY(Pipe report, make_pipe());
  std::vector<std::string> assignments;
  for (const auto& [name, value] : environment) assignments.push_back(name + "=" + value);
  auto arguments = pointers(argv), variables = pointers(assignments);

  // No signal handler of ours may run in the child before its handlers are reset.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t parent = getpid(), pid = fork();
  if (pid == 0)
    become(arguments.data(), variables.data(), in.read_end.get(), out.write_end.get(), err.write_end.get(), report.write_end.get(), parent);
  int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0) return system_error("fork for the worker", fork_error);

  WorkerProcess process;
  process.pid = pid;
  setpgid(pid, pid);  // whoever of the two is first; the other fails harmlessly
  report.write_end.reset();
  int error = 0;
  ssize_t got;
  while ((got = read(report.read_end.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got == sizeof error) return system_error("start the worker " + argv[0], error);
  process.in = std::move(in.write_end);
  process.out = std::move(out.read_end);
  process.err = std::move(err.read_end);
  for (int ours : {process.in.get(), process.out.get(), process.err.get()}) fcntl(ours, F_SETFL, O_NONBLOCK);
  process.watch.reset(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  return process;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid(std::exchange(other.pid, -1)),
      in(std::move(other.in)),
      out(std::move(other.out)),
      err(std::move(other.err)),
      watch(std::move(other.watch)),
      reaped_(other.reaped_),
      exit_code_(other.exit_code_),
      ending_(std::move(other.ending_)) {}

WorkerProcess::~WorkerProcess() {
  if (pid > 0 && !reaped_) reap();
}

bool WorkerProcess::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

// The group is killed before the leader is reaped: until then nobody else can get its number.
void WorkerProcess::reap() {
  kill(-pid, SIGKILL);
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
  ending_ = WIFSIGNALED(status) ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                                : fmt::format("exited with code {}", WEXITSTATUS(status));
}

std::string WorkerProcess::wait_for_end(std::chrono::milliseconds at_most) {
  if (pid <= 0 || reaped_) return ending_;
  const auto until = std::chrono::steady_clock::now() + at_most;
  while (!has_ended()) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0) return "";
    pollfd end{watch.get(), POLLIN, 0};
    poll(&end, watch ? 1 : 0, static_cast<int>(watch ? left : std::min<long>(left, 5)));
  }
  reap();
  return ending_;
}

}  // namespace whet
