// SPDX-License-Identifier: Apache-2.0
// A pool of its own whose threads wait on a condition between calls; the caller computes too.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "operator.h"

namespace {

std::mutex mutex;
std::condition_variable begin, end;
Args job;
int generation = 0, open = 0;

void work(int index) {
  int done = 0;
  std::unique_lock lock(mutex);
  for (;;) {
    begin.wait(lock, [&] { return generation != done; });
    done = generation;
    const Args a = job;
    lock.unlock();
    compute_rows(a, a.rows * index / a.threads, a.rows * (index + 1) / a.threads);
    lock.lock();
    if (--open == 0) end.notify_one();
  }
}

}  // namespace

static whet_int32 run(const WhetCall* call, void*) {
  const Args a = read_args(call);
  static bool started = [&] {
    for (int i = 1; i < a.threads; ++i) std::thread(work, i).detach();
    return true;
  }();
  (void)started;
  std::unique_lock lock(mutex);
  job = a;
  open = a.threads - 1;
  ++generation;
  begin.notify_all();
  lock.unlock();
  compute_rows(a, 0, a.rows / a.threads);
  lock.lock();
  end.wait(lock, [] { return open == 0; });
  return 0;
}

WHET_TEST_SOLUTION(run)
