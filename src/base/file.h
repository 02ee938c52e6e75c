// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"

namespace whet {

// Owns one file descriptor; -1 is none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release() { return std::exchange(number_, -1); }
  void reset(int number = -1);

 private:
  int number_ = -1;
};

// The whole contents, byte for byte. Errors name the file: absent, a folder, unreadable, larger than max_bytes. Works for /proc and /sys files.
Expected<std::string> read_file(const std::filesystem::path& path, size_t max_bytes = size_t{256} << 20);

// Readers see the old contents or the new ones, never a part, also after a power failure: temporary file beside it, fsync, rename,
// fsync of the folder. The folder must exist. Mode 0644.
Status write_file_atomically(const std::filesystem::path& path, std::string_view contents);

struct TreeLimits {
  size_t max_files = 10'000;
  size_t max_bytes = size_t{256} << 20;  // all files together
};

// All regular files below `folder`: {relative path with forward slashes: contents}. Symbolic links are followed when they name a file inside
// the folder, and refused when they lead out of it. Files and folders whose name starts with a dot are left out.
Expected<std::map<std::string, std::string>> read_tree(const std::filesystem::path& folder, TreeLimits limits = {});

// Writes {relative path: contents} below `folder`, which is made if it is absent. Refuses paths for which is_plain_relative_path() is false.
Status write_tree(const std::filesystem::path& folder, const std::map<std::string, std::string>& files);

// True for "a/b.cc"; false for "", "/a", "a//b", "./a", "a/../b", a backslash, or a control character.
bool is_plain_relative_path(std::string_view path);

// mkdir -p, with an error that names the folder.
Status make_folders(const std::filesystem::path& folder);

// A folder of its own (mode 0700), removed with all that is in it when the object goes. Until then it is locked (flock), so that one whose
// owner was killed can be told from one in use.
class TemporaryDirectory {
 public:
  // <parent>/<prefix>-XXXXXX
  static Expected<TemporaryDirectory> make(const std::string& prefix = "whet",
                                           const std::filesystem::path& parent = "/tmp");

  // Removes the folders <parent>/<prefix>-XXXXXX of ours whose owners are gone. Every program that uses this prefix there must have made them with
  // make(): a folder that nobody locks counts as abandoned.
  static void remove_abandoned(const std::string& prefix, const std::filesystem::path& parent = "/tmp");

  TemporaryDirectory() = default;
  TemporaryDirectory(TemporaryDirectory&& other) noexcept
      : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}
  TemporaryDirectory& operator=(TemporaryDirectory&& other) noexcept {
    if (this != &other) {
      remove();
      path_ = std::exchange(other.path_, {});
      lock_ = std::move(other.lock_);
    }
    return *this;
  }
  ~TemporaryDirectory() { remove(); }

  const std::filesystem::path& path() const { return path_; }

 private:
  void remove();

  std::filesystem::path path_;
  Descriptor lock_;
};

}  // namespace whet
