// SPDX-License-Identifier: Apache-2.0
#include "face/cli/status_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace whet {

using namespace std::chrono_literals;

void StatusLine::show(double done, const std::string& text) {
  const Clock::time_point now = look_.now();
  if (shown_ && now - last_ < (look_.terminal ? Clock::duration(100ms) : Clock::duration(5s))) return;
  last_ = now;
  shown_ = true;
  if (!look_.terminal) {
    look_.write((done >= 0 ? fmt::format("{:3.0f} % ", std::clamp(done, 0.0, 1.0) * 100) : "") + text + "\n");
    return;
  }
  const std::string line = (done >= 0 ? bar(done, 22) + " " : "") + text;
  look_.write("\r" + fitted(line, look_.columns - 1) + "\x1b[K");
  drawn_ = true;
}

void StatusLine::note(const std::string& text) {
  clear();
  look_.write(text + "\n");
}

void StatusLine::clear() {
  if (drawn_) look_.write("\r\x1b[K");
  drawn_ = false;
}

std::string bar(double done, int width) {
  const int inside = std::max(1, width - 2);
  const int full = static_cast<int>(std::floor(std::clamp(done, 0.0, 1.0) * inside));
  return "[" + std::string(static_cast<std::size_t>(full), '#') + std::string(static_cast<std::size_t>(inside - full), ' ') + "]";
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::max(0.0, std::round(seconds)));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string fitted(const std::string& text, int columns) {
  int width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && ++width > columns) return text.substr(0, i);
  }
  return text;
}

}  // namespace whet
