// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "base/json.h"
#include "face/cli/context.h"
#include "face/cli/status_line.h"

namespace whet {

// A status line on stderr, fit for this terminal.
StatusLine::Look look_of(const Context& context);

// Follows one judgement by the worker's progress notifications: {"phase": "build|admission|measure|hidden", "workload", "index", "total", "ratio",
// "verdict"}.
class Live {
 public:
  explicit Live(const Context& context, std::string prefix = "") : line_(look_of(context)), prefix_(std::move(prefix)) {}

  void operator()(const Json& notification);
  StatusLine& line() { return line_; }

 private:
  StatusLine line_;
  std::string prefix_;
  StatusLine::Clock::time_point measuring_since_{};
  int not_correct_ = 0;
  std::map<std::string, double> ratios_;  // by workload: the latest word on fastest baseline / candidate
};

}  // namespace whet
