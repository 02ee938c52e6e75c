// SPDX-License-Identifier: Apache-2.0
#include "face/cli/interrupt.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

#include "face/cli/context.h"

namespace whet {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
std::atomic<int> write_end = -1;  // where the handler announces a signal

void announce(int) {
  const int saved = errno;
  const char byte = 's';
  [[maybe_unused]] const auto written = write(write_end.load(), &byte, 1);
  errno = saved;
}

}  // namespace

Interrupt::Interrupt(std::function<void()> on_first) : on_first_(std::move(on_first)) {
  if (pipe2(pipe_, O_CLOEXEC) != 0) return;  // without it Ctrl-C just ends the program
  write_end = pipe_[1];
  struct sigaction action {};
  action.sa_handler = announce;
  action.sa_flags = SA_RESTART;
  for (const int number : kSignals) {
    struct sigaction before {};
    sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) continue;  // under nohup
    sigaction(number, &action, nullptr);
  }
  watcher_ = std::thread([this] { watch(); });
}

Interrupt::~Interrupt() {
  if (pipe_[0] < 0) return;
  for (const int number : kSignals) {
    struct sigaction now {};
    sigaction(number, nullptr, &now);
    if (now.sa_handler != announce) continue;
    now.sa_handler = SIG_DFL;
    sigaction(number, &now, nullptr);
  }
  const char byte = 'q';
  [[maybe_unused]] const auto written = write(pipe_[1], &byte, 1);
  watcher_.join();
  close(pipe_[0]);
  close(pipe_[1]);
}

void Interrupt::watch() {
  // For the other threads: where handlers are put off until a call returns (ThreadSanitizer does so), this one would wait in read() for itself.
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : kSignals) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  char byte = 0;
  while (true) {
    const auto got = read(pipe_[0], &byte, 1);
    if (got < 0 && errno == EINTR) continue;
    if (got != 1 || byte == 'q') return;
    if (stop_) _exit(kInterrupted);
    stop_ = true;
    if (on_first_) on_first_();
  }
}

}  // namespace whet
