// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace whet {

// "1 launch", "3 launches"
std::string counted(std::size_t count, const std::string& one, const std::string& many);

// A text of pieces that stays below a size fit for a reader with little room: whole pieces, and a line that counts those left out.
class Bounded {
 public:
  explicit Bounded(std::string head, std::size_t most_bytes = 9000) : text_(std::move(head)), most_(most_bytes) {}

  // False when there is no room left for it; then no later one is taken either.
  bool add(const std::string& piece);
  // After the last piece: how many there would have been.
  void left_out(std::size_t all, const std::string& of_what);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  std::size_t most_, taken_ = 0;
  bool full_ = false;
};

}  // namespace whet
