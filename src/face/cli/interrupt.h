// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace whet {

// Ctrl-C while it lives (SIGINT, SIGTERM, SIGHUP): the first asks to stop, the second ends the program at once with exit code 130. The worker ends with
// its client either way. One at a time.
class Interrupt {
 public:
  explicit Interrupt(std::function<void()> on_first = nullptr);  // called from a thread of its own, after the flag is set
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  const std::atomic<bool>& stop() const { return stop_; }

 private:
  void watch();

  std::function<void()> on_first_;
  std::atomic<bool> stop_ = false;
  int pipe_[2] = {-1, -1};
  std::thread watcher_;
};

}  // namespace whet
