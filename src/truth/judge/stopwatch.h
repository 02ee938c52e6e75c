// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "record/evaluation.h"

namespace whet {

// Attributes every second of a judgement to one account. What no one claims is the judge's own.
class Stopwatch {
 public:
  enum Account { judge, build, reference, solutions, admission };

  Account switch_to(Account account) {
    const auto now = std::chrono::steady_clock::now();
    spent_[current_] += std::chrono::duration<double>(now - since_).count();
    since_ = now;
    const Account old = current_;
    current_ = account;
    return old;
  }
  // A call took `ns` (negative: not measured): moves it from the account under way to that of the callee.
  void move(Account to, double ns) {
    if (!(ns > 0)) return;
    spent_[current_] -= ns * 1e-9;
    spent_[to] += ns * 1e-9;
  }
  TimeSpent so_far() {
    switch_to(current_);
    TimeSpent spent;
    spent.build = spent_[build];
    spent.reference = spent_[reference];
    spent.solutions = spent_[solutions];
    spent.admission = spent_[admission];
    spent.judge = spent_[judge];
    spent.total = spent.build + spent.reference + spent.solutions + spent.admission + spent.judge;
    return spent;
  }

 private:
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  Account current_ = judge;
  double spent_[5] = {};
};

}  // namespace whet
