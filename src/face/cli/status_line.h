// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace whet {

// What is under way, on stderr. On a terminal one line that is drawn over and over; elsewhere a plain line now and then.
class StatusLine {
 public:
  using Clock = std::chrono::steady_clock;
  struct Look {
    bool terminal = false;
    int columns = 80;
    std::function<void(const std::string&)> write;                  // to stderr; replaced by tests
    std::function<Clock::time_point()> now = [] { return Clock::now(); };
  };
  explicit StatusLine(Look look) : look_(std::move(look)) {}
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // `done` in [0, 1], negative = unknown. Drawn at most ten times a second on a terminal, else at most one line in five seconds.
  void show(double done, const std::string& text);
  // Something that happened: always a line of its own.
  void note(const std::string& text);
  // Takes the line away, before something else is printed.
  void clear();

 private:
  Look look_;
  bool drawn_ = false, shown_ = false;
  Clock::time_point last_;
};

// "[#######             ]" of `width` characters in all.
std::string bar(double done, int width);
// "0:07", "12:40", "1:02:03".
std::string clock_text(double seconds);
// What stands before the first byte that would go beyond `columns`; never cuts a character of several bytes in two.
std::string fitted(const std::string& text, int columns);

}  // namespace whet
