// SPDX-License-Identifier: Apache-2.0
#include "pool.h"

#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace start {
namespace {

// Rounds of spinning before a helper sleeps: a few milliseconds, as OpenMP runtimes do.
constexpr int kSpins = 100000;

inline void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

}  // namespace

Pool::Pool(int threads) {
  helpers_.reserve(static_cast<std::size_t>(threads));
  try {
    for (int t = 1; t < threads; ++t) helpers_.emplace_back(&Pool::help, this, t);
  } catch (const std::system_error&) {
    // Fewer helpers: for_each() gives their items to the threads that exist.
  }
}

Pool::~Pool() {
  stop_.store(true);
  next_round();
  for (auto& t : helpers_) t.join();
}

// A condition variable, and not std::atomic::wait: that of GCC 12 was seen to sleep through its notification.
void Pool::next_round() {
  {
    const std::lock_guard lock(sleep_);
    round_.fetch_add(1, std::memory_order_release);
  }
  woken_.notify_all();
}

void Pool::run(int threads, void (*body)(void*, int), void* context) {
  if (threads > size()) threads = size();
  if (threads <= 1) {
    body(context, 0);
    return;
  }
  body_ = body;
  context_ = context;
  threads_ = threads;
  working_.store(size() - 1, std::memory_order_relaxed);
  next_round();
  body(context, 0);
  while (working_.load(std::memory_order_acquire) != 0) relax();
}

void Pool::help(int thread) {
  std::uint32_t seen = 0;
  for (;;) {
    std::uint32_t now = round_.load(std::memory_order_acquire);
    for (int i = 0; now == seen && i < kSpins; ++i) {
      relax();
      now = round_.load(std::memory_order_acquire);
    }
    if (now == seen) {
      std::unique_lock lock(sleep_);
      woken_.wait(lock, [&] { return round_.load(std::memory_order_acquire) != seen; });
      continue;
    }
    seen = now;
    if (stop_.load()) return;
    if (thread < threads_) body_(context_, thread);
    working_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace start
