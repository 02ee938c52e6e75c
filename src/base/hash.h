// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace whet {

// SHA-256 (FIPS 180-4). Content addresses of sources, artifacts, tasks; keys of the generators.
class Sha256 {
 public:
  Sha256();
  Sha256& update(std::string_view bytes);
  std::array<uint8_t, 32> digest();  // ends the computation
  std::string hex();                 // ends the computation; 64 lower-case digits

 private:
  void block(const uint8_t* bytes);

  std::array<uint32_t, 8> state_;
  uint64_t length_ = 0;
  std::array<uint8_t, 64> buffer_;
};

std::string sha256_hex(std::string_view bytes);

// The content address of a set of files {path: contents}: independent of the order in which they were read; paths and contents are
// length-prefixed, so no two different sets have the same text.
std::string tree_hash(const std::map<std::string, std::string>& files);

}  // namespace whet
