// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "face/cli/context.h"
#include "face/cli/status_line.h"
#include "search/optimize.h"

namespace whet {

// A run on the terminal: a bar with where it stands, and a line for everything that happened.
class RunScreen {
 public:
  explicit RunScreen(const Context& context) : line_(look_of_run(context)), began_(StatusLine::Clock::now()) {}

  void operator()(const Progress& news);
  StatusLine& line() { return line_; }

 private:
  static StatusLine::Look look_of_run(const Context& context);
  void note(const std::string& text);

  StatusLine line_;
  StatusLine::Clock::time_point began_;
  std::string phase_;
};

// "geomean 1.42x, 1.18x start, worst decode-4096 0.91x", as far as known.
std::string standing_text(const Lineage::Standing& standing);

// What a run came to, for people: where the champion is and how to see and re-measure it.
std::string run_text(const OptimizeResult& result, const Task& task, const RunSetting& setting, const std::string& ledger_flag, const Context& context,
                     bool columns);

}  // namespace whet
