// SPDX-License-Identifier: Apache-2.0
#include "wire/lines.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace whet {

void LineCutter::add(std::string_view bytes) {
  if (dropping_) {
    std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    dropping_ = false;
  }
  if (begin_ > 0 && begin_ >= buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    scanned_ -= begin_;
    begin_ = 0;
  }
  buffer_.append(bytes);
}

std::optional<LineCutter::Line> LineCutter::next() {
  std::size_t end = buffer_.find('\n', scanned_);
  if (end == std::string::npos) {
    scanned_ = buffer_.size();
    if (pending() <= max_line_) return std::nullopt;
    std::string().swap(buffer_);
    begin_ = scanned_ = 0;
    dropping_ = true;
    return Line{"", true};
  }
  Line line;
  line.too_long = end - begin_ > max_line_;
  if (!line.too_long) line.text = buffer_.substr(begin_, end - begin_);
  begin_ = scanned_ = end + 1;
  if (begin_ == buffer_.size()) {
    // A buffer that once held a huge line is given back.
    if (buffer_.capacity() > (1u << 20)) std::string().swap(buffer_);
    buffer_.clear();
    begin_ = scanned_ = 0;
  }
  return line;
}

ptrdiff_t write_without_signal(int descriptor, std::string_view bytes) {
  sigset_t pipe_signal, old, pending;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
  ssize_t written = write(descriptor, bytes.data(), bytes.size());
  int error = errno;
  if (written < 0 && error == EPIPE && !was_pending) {
    timespec at_once{0, 0};
    while (sigtimedwait(&pipe_signal, nullptr, &at_once) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  errno = error;
  return written;
}

Status write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ptrdiff_t written = write_without_signal(descriptor, bytes);
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd writable{descriptor, POLLOUT, 0};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return system_error("write to the other end of the wire", errno);
    }
  }
  return {};
}

}  // namespace whet
