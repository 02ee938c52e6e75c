// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace whet {

inline constexpr std::size_t kMaxLine = std::size_t{512} << 20;

// Cuts a stream of bytes into lines, however the bytes arrive. A line over the limit is dropped as it comes in and reported once.
class LineCutter {
 public:
  explicit LineCutter(std::size_t max_line = kMaxLine) : max_line_(max_line) {}

  struct Line {
    std::string text;       // without line feed
    bool too_long = false;  // `text` is empty
  };
  void add(std::string_view bytes);
  std::optional<Line> next();
  // Bytes that came after the last line feed.
  std::size_t pending() const { return buffer_.size() - begin_; }

 private:
  std::size_t max_line_;
  std::string buffer_;
  std::size_t begin_ = 0;    // where the next line begins
  std::size_t scanned_ = 0;  // no line feed in [begin_, scanned_)
  bool dropping_ = false;    // inside a line that is too long
};

// Writes all bytes. A reader that is gone is an error (EPIPE), never a SIGPIPE. Waits where the descriptor would block.
Status write_all(int descriptor, std::string_view bytes);

// As write(2), but a reader that is gone gives -1 and EPIPE without a SIGPIPE.
ptrdiff_t write_without_signal(int descriptor, std::string_view bytes);

}  // namespace whet
