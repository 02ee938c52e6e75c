// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace whet {

// A folder of entries under 64-digit keys. An entry is whole or absent, is verified by its own hash when it is loaded (a damaged one is
// removed and counts as absent), and the least recently used go when all together exceed the limit. Several processes may share it.
class BuildCache {
 public:
  static Expected<BuildCache> open(const std::filesystem::path& folder, uint64_t max_bytes);

  std::optional<std::string> load(const std::string& key) const;
  Status store(const std::string& key, std::string_view contents) const;  // then makes room

  // An entry as a file that can be loaded into a process; its hash is in its name's entry. Nothing when absent or damaged.
  std::optional<std::filesystem::path> load_file(const std::string& key, const std::string& sha256) const;
  Expected<std::filesystem::path> store_file(const std::string& key, std::string_view contents) const;

  uint64_t bytes() const;  // of all entries
  void make_room(uint64_t max_bytes) const;

 private:
  std::filesystem::path path_of(const std::string& key, const char* suffix) const;

  std::filesystem::path folder_;
  uint64_t max_bytes_ = 0;
};

}  // namespace whet
