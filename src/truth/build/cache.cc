// SPDX-License-Identifier: Apache-2.0
#include "truth/build/cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/hash.h"

namespace whet {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMagic = "whet-cache-1 ";  // then 64 digits and a line feed

// The time of last use is the file's own time: access times are often switched off.
void touch(const fs::path& path) { ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

struct Entry {
  fs::path path;
  uint64_t bytes;
  timespec used;
};

std::vector<Entry> all_entries(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code code;
  for (fs::recursive_directory_iterator at(folder, code), end; !code && at != end; at.increment(code)) {
    struct stat about {};
    if (::stat(at->path().c_str(), &about) == 0 && S_ISREG(about.st_mode))
      entries.push_back({at->path(), static_cast<uint64_t>(about.st_size), about.st_mtim});
  }
  return entries;
}

}  // namespace

Expected<BuildCache> BuildCache::open(const fs::path& folder, uint64_t max_bytes) {
  WHET_OK(make_folders(folder));
  BuildCache cache;
  cache.folder_ = folder;
  cache.max_bytes_ = max_bytes;
  return cache;
}

fs::path BuildCache::path_of(const std::string& key, const char* suffix) const {
  return folder_ / key.substr(0, 2) / (key + suffix);
}

std::optional<std::string> BuildCache::load(const std::string& key) const {
  const fs::path path = path_of(key, "");
  auto text = read_file(path, size_t{1} << 30);
  if (!text) return std::nullopt;
  const size_t start = kMagic.size() + 65;
  if (text->size() < start || !text->starts_with(kMagic) ||
      sha256_hex(std::string_view(*text).substr(start)) != text->substr(kMagic.size(), 64)) {
    std::error_code ignored;
    fs::remove(path, ignored);
    return std::nullopt;
  }
  touch(path);
  text->erase(0, start);
  return *std::move(text);
}

Status BuildCache::store(const std::string& key, std::string_view contents) const {
  WHET_OK(make_folders(path_of(key, "").parent_path()));
  std::string text = std::string(kMagic) + sha256_hex(contents) + "\n";
  text += contents;
  WHET_OK(write_file_atomically(path_of(key, ""), text));
  make_room(max_bytes_);
  return {};
}

std::optional<fs::path> BuildCache::load_file(const std::string& key, const std::string& sha256) const {
  const fs::path path = path_of(key, ".so");
  const auto contents = read_file(path, size_t{1} << 30);
  if (!contents) return std::nullopt;
  if (sha256_hex(*contents) != sha256) {
    std::error_code ignored;
    fs::remove(path, ignored);
    return std::nullopt;
  }
  touch(path);
  return path;
}

Expected<fs::path> BuildCache::store_file(const std::string& key, std::string_view contents) const {
  const fs::path path = path_of(key, ".so");
  WHET_OK(make_folders(path.parent_path()));
  WHET_OK(write_file_atomically(path, contents));
  make_room(max_bytes_);
  return path;
}

uint64_t BuildCache::bytes() const {
  uint64_t sum = 0;
  for (const Entry& entry : all_entries(folder_)) sum += entry.bytes;
  return sum;
}

void BuildCache::make_room(uint64_t max_bytes) const {
  auto entries = all_entries(folder_);
  uint64_t sum = 0;
  for (const Entry& entry : entries) sum += entry.bytes;
  if (sum <= max_bytes) return;
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return a.used.tv_sec != b.used.tv_sec ? a.used.tv_sec < b.used.tv_sec : a.used.tv_nsec < b.used.tv_nsec;
  });
  // The newest stays in any case: somebody is about to use it.
  for (size_t i = 0; i + 1 < entries.size() && sum > max_bytes; ++i) {
    std::error_code ignored;
    fs::remove(entries[i].path, ignored);
    sum -= entries[i].bytes;
  }
}

}  // namespace whet
