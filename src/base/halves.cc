// SPDX-License-Identifier: Apache-2.0
#include "base/halves.h"

#include <semaphore.h>
#include <signal.h>

#include <chrono>
#include <mutex>
#include <system_error>
#include <thread>

namespace whet {
namespace {

// Pieces come in bursts: the next one is looked for this long before the thread sleeps, because a core that sleeps takes about as long to wake.
constexpr std::chrono::microseconds kLooks{50};

// POSIX semaphores: std::atomic::wait of GCC 12 was seen to sleep through its notification.
class Signal {
 public:
  Signal() { sem_init(&semaphore_, 0, 0); }
  ~Signal() { sem_destroy(&semaphore_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  void give() { sem_post(&semaphore_); }
  void take() {
    const auto until = std::chrono::steady_clock::now() + kLooks;
    do {
      for (int i = 0; i < 64; ++i) {
        if (sem_trywait(&semaphore_) == 0) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
    } while (std::chrono::steady_clock::now() < until);
    while (sem_wait(&semaphore_) != 0) {}
  }

 private:
  sem_t semaphore_;
};

// Asleep but for its work: starting a thread for each piece cost the judge a tenth of its time. Signals are the main thread's.
class SecondThread {
 public:
  SecondThread() {
    if (std::thread::hardware_concurrency() < 2) return;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread(&SecondThread::serve, this);
    } catch (const std::system_error&) {
      // Then everything is done by the caller.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~SecondThread() {
    if (!thread_.joinable()) return;
    work_ = nullptr;
    asked_.give();
    thread_.join();
  }

  bool run(void (*work)(void*), void (*own)(void*), void* context) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock || !thread_.joinable()) return false;
    work_ = work, context_ = context;
    asked_.give();
    own(context);
    done_.take();
    return true;
  }

 private:
  void serve() {
    for (asked_.take(); work_; asked_.take()) {
      work_(context_);
      done_.give();
    }
  }

  std::mutex busy_;
  Signal asked_, done_;
  void (*work_)(void*) = nullptr;  // null: the end
  void* context_ = nullptr;
  std::thread thread_;
};

}  // namespace

bool beside_each_other(void (*work)(void*), void (*own)(void*), void* context) {
  static SecondThread second;
  return second.run(work, own, context);
}

}  // namespace whet
