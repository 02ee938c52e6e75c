// SPDX-License-Identifier: Apache-2.0
#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

extern char** environ;

namespace whet {

using Clock = std::chrono::steady_clock;

void BoundedText::append(std::string_view bytes) {
  total_ += bytes.size();
  if (head_.size() < half_) {
    const size_t take = std::min(half_ - head_.size(), bytes.size());
    head_.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
  }
  if (bytes.size() > half_) bytes.remove_prefix(bytes.size() - half_);
  const size_t sum = tail_.size() + bytes.size();
  if (sum > half_) tail_.erase(tail_.begin(), tail_.begin() + static_cast<std::ptrdiff_t>(sum - half_));
  tail_.insert(tail_.end(), bytes.begin(), bytes.end());
}

std::string BoundedText::text() const {
  std::string text = head_;
  if (truncated()) text += fmt::format("\n[... {} bytes left out ...]\n", total_ - head_.size() - tail_.size());
  text.append(tail_.begin(), tail_.end());
  return text;
}

std::string ProcessResult::describe(const std::vector<std::string>& argv) const {
  std::string text;
  for (const std::string& word : argv) text += (text.empty() ? "" : " ") + word;
  if (timed_out) text += fmt::format(": stopped after {:.1f} s", seconds);
  else if (signal != 0) text += fmt::format(": ended by signal {} ({})", signal, ::strsignal(signal));
  else text += fmt::format(": exit code {}", exit_code);
  std::string_view said = err.empty() ? std::string_view(out) : std::string_view(err);
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.remove_suffix(1);
  if (said.size() > 400) said.remove_prefix(said.size() - 400);
  if (said.empty()) return text;
  text += ": ";
  for (const char c : said) text += c == '\n' ? ' ' : c;
  return text;
}

namespace {

struct Pipe {
  Descriptor read_end, write_end;
};

Expected<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's two objects, destroyed on every path.
struct SpawnPlan {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

// Sends `left` without blocking; closes the descriptor at the end or when nobody reads.
void feed(Descriptor& to, std::string_view& left) {
  const ssize_t put = left.empty() ? 0 : ::write(to.get(), left.data(), left.size());
  if (put > 0) left.remove_prefix(static_cast<size_t>(put));
  if (left.empty() || (put < 0 && errno != EAGAIN && errno != EINTR)) to.reset();
}

void take(Descriptor& from, BoundedText& into) {
  char chunk[1 << 16];
  const ssize_t got = ::read(from.get(), chunk, sizeof chunk);
  if (got > 0) into.append({chunk, static_cast<size_t>(got)});
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) from.reset();
}

// A write to a closed pipe must be an error code, not the end of the program: blocked for this thread, and one that came is taken away.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigset_t pending;
    sigemptyset(&set_);
    sigaddset(&set_, SIGPIPE);
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  ~NoSigpipe() {
    const timespec now{};
    if (!was_pending_) sigtimedwait(&set_, nullptr, &now);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t set_, before_;
  bool was_pending_;
};

}  // namespace

Expected<Process> Process::start(const ProcessSpec& spec, Stderr stderr_goes) {
  if (spec.argv.empty()) return bad_input("cannot start a program: no name given");
  WHET_TRY(Pipe in, make_pipe());
  WHET_TRY(Pipe out, make_pipe());
  Pipe err;
  if (stderr_goes == Stderr::pipe) {
    WHET_TRY(err, make_pipe());
  }
  SpawnPlan plan;
  // Our pipe ends could be numbered 0 to 2 when the program was started without them; dup2 onto itself would leave CLOEXEC set.
  // posix_spawn clears the flag in that case, so plain dup2 actions suffice.
  posix_spawn_file_actions_adddup2(&plan.actions, in.read_end.get(), 0);
  posix_spawn_file_actions_adddup2(&plan.actions, out.write_end.get(), 1);
  if (err.write_end) posix_spawn_file_actions_adddup2(&plan.actions, err.write_end.get(), 2);
  // What others opened without CLOEXEC (libraries, our own caller) must not live on in a child either.
  if (spec.kept >= 0) posix_spawn_file_actions_adddup2(&plan.actions, spec.kept, 3);
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, spec.kept >= 0 ? 4 : 3);
  if (spec.working_directory) posix_spawn_file_actions_addchdir_np(&plan.actions, spec.working_directory->c_str());
  std::vector<std::string> assignments;
  if (spec.environment)
    for (const auto& [name, value] : *spec.environment) assignments.push_back(name + "=" + value);
  Process process;
  const auto argv = pointers(spec.argv);
  const auto envp = pointers(assignments);
  const int failed = ::posix_spawnp(&process.pid_, argv[0], &plan.actions, &plan.attributes, argv.data(),
                                    spec.environment ? envp.data() : environ);
  if (failed != 0) {
    process.pid_ = -1;
    const std::string where = spec.working_directory ? " in " + spec.working_directory->string() : "";
    return system_error("cannot start " + spec.argv[0] + where, failed);
  }
  process.pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process.pid_, 0)));
  process.in_ = std::move(in.write_end);
  process.out_ = std::move(out.read_end);
  process.err_ = std::move(err.read_end);
  return process;
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  end_ = std::exchange(other.end_, {});
  pidfd_ = std::move(other.pidfd_);
  in_ = std::move(other.in_);
  out_ = std::move(other.out_);
  err_ = std::move(other.err_);
  return *this;
}

Process::~Process() { kill(); }

Expected<std::optional<Process::End>> Process::poll() {
  if (end_ || pid_ < 0) return end_;
  int status = 0;
  const pid_t got = ::waitpid(pid_, &status, WNOHANG);
  if (got < 0) return system_error(fmt::format("cannot wait for the process {}", pid_), errno);
  if (got == 0) return std::nullopt;
  end_ = WIFEXITED(status) ? End{WEXITSTATUS(status), 0} : End{-1, WTERMSIG(status)};
  return end_;
}

Expected<std::optional<Process::End>> Process::wait(std::chrono::milliseconds at_most) {
  const auto until = Clock::now() + at_most;
  while (true) {
    WHET_TRY(auto end, poll());
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (end || left <= 0) return end;
    pollfd watch{pidfd_.get(), POLLIN, 0};
    const long nap =
        pidfd_ ? std::min<long>(left, 1'000'000) : std::min<long>(left, 5);  // kernels before 5.3 have no pidfd
    ::poll(&watch, pidfd_ ? 1 : 0, static_cast<int>(nap));
  }
}

void Process::signal(int number) {
  if (pid_ > 0 && !end_) ::kill(-pid_, number);
}

void Process::kill() {
  if (pid_ > 0 && !end_) {
    ::kill(-pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    end_ = End{-1, SIGKILL};
  }
}

Expected<ProcessResult> run_process(const ProcessSpec& spec) {
  const auto begin = Clock::now();
  WHET_TRY(Process process, Process::start(spec, Process::Stderr::pipe));
  NoSigpipe quiet;
  for (Descriptor* end : {&process.in(), &process.out(), &process.err()}) ::fcntl(end->get(), F_SETFL, O_NONBLOCK);
  BoundedText out(spec.max_output), err(spec.max_output);
  std::string_view left = spec.stdin_text;
  feed(process.in(), left);
  ProcessResult result;
  std::optional<Process::End> end;
  while (true) {
    // A grandchild may keep the pipes open for ever: the end of the program itself is the end, after what is in the pipes.
    WHET_TRY(end, process.poll());
    pollfd watch[3] = {
        {process.out().get(), POLLIN, 0}, {process.err().get(), POLLIN, 0}, {process.in().get(), POLLOUT, 0}};
    if (!end && !process.out() && !process.err()) {
      WHET_TRY(end, process.wait(std::chrono::milliseconds(20)));
    }
    const int ready = ::poll(watch, 3, end ? 0 : 20);
    if (watch[0].revents != 0) take(process.out(), out);
    if (watch[1].revents != 0) take(process.err(), err);
    if (watch[2].revents != 0) feed(process.in(), left);
    if (end && (ready <= 0 || (!process.out() && !process.err()))) break;
    if (spec.deadline && Clock::now() - begin > *spec.deadline && !end) {
      process.kill();
      result.timed_out = true;
    }
  }
  result.exit_code = end->exit_code;
  result.signal = end->signal;
  result.truncated = out.truncated() || err.truncated();
  result.out = out.text();
  result.err = err.text();
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace whet
