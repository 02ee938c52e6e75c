// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

// What a fuzzer believes of a parser: stops the fuzzer with the sentence.
inline void must(bool condition, const char* sentence) {
  if (condition) return;
  std::fprintf(stderr, "does not hold: %s\n", sentence);
  std::abort();
}

inline std::string_view text_of(const uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
