// SPDX-License-Identifier: Apache-2.0
//
// A few threads that wait for work between calls: they spin a little, then sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace start {

class Pool {
 public:
  // Starts `threads - 1` helpers; the caller of run() is the first thread. Fewer where the system refuses.
  explicit Pool(int threads);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  // Calls body(context, thread) on `threads` threads (at most size()) and returns when all have returned.
  void run(int threads, void (*body)(void*, int), void* context);

  // Hands the items 0 .. count-1 to `threads` threads in order, `grain` at a time: body(item, thread).
  template <class Body>
  void for_each(int threads, std::int64_t count, std::int64_t grain, const Body& body) {
    struct Shared {
      const Body& body;
      std::int64_t count, grain;
      std::atomic<std::int64_t> next{0};
    } shared{body, count, grain};
    const auto work = [](void* context, int thread) {
      auto& s = *static_cast<Shared*>(context);
      for (;;) {
        const std::int64_t first = s.next.fetch_add(s.grain, std::memory_order_relaxed);
        if (first >= s.count) return;
        const std::int64_t end = first + s.grain < s.count ? first + s.grain : s.count;
        for (std::int64_t item = first; item < end; ++item) s.body(item, thread);
      }
    };
    const std::int64_t shares = (count + grain - 1) / grain;
    run(static_cast<int>(shares < threads ? shares : threads), work, &shared);
  }

 private:
  void help(int thread);
  void next_round();

  std::vector<std::thread> helpers_;
  void (*body_)(void*, int) = nullptr;
  void* context_ = nullptr;
  int threads_ = 0;
  std::mutex sleep_;
  std::condition_variable woken_;
  alignas(64) std::atomic<std::uint32_t> round_{0};
  alignas(64) std::atomic<int> working_{0};
  std::atomic<bool> stop_{false};
};

}  // namespace start
