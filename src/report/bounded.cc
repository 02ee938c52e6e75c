// SPDX-License-Identifier: Apache-2.0
#include "report/bounded.h"

#include <fmt/format.h>

namespace whet {

std::string counted(std::size_t count, const std::string& one, const std::string& many) { return fmt::format("{} {}", count, count == 1 ? one : many); }

bool Bounded::add(const std::string& piece) {
  full_ |= text_.size() + piece.size() > most_;
  if (full_) return false;
  text_ += piece;
  ++taken_;
  return true;
}

void Bounded::left_out(std::size_t all, const std::string& of_what) {
  if (all > taken_) text_ += fmt::format("[{} of {} {} left out; --json has all]\n", all - taken_, all, of_what);
}

}  // namespace whet
