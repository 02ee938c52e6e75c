// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace whet {

// A text that toml++ must not see, for it does not fail there but breaks.
struct TomlTrap {
  std::size_t offset = 0;  // bytes
  std::string_view why;
  bool operator==(const TomlTrap&) const = default;
};

// The first of these in the text:
// - a character beyond ASCII where TOML 1.0 has none: outside of strings and comments, or after a backslash of a multi-line string. toml++ asks
//   there whether it is white space, by a function that runs into __builtin_unreachable for many (U+00A1 to U+0499 among them; version 3.3);
// - a key of more than 16 parts (a.b.c): tables nested that way are destroyed by recursion, without a bound.
std::optional<TomlTrap> toml_trap(std::string_view toml);

}  // namespace whet
