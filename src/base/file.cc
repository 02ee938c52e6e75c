// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

namespace whet {

namespace fs = std::filesystem;

void Descriptor::reset(int number) {
  if (number_ >= 0) ::close(number_);
  number_ = number;
}

Expected<std::string> read_file(const fs::path& path, size_t max_bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return system_error("cannot open " + path.string(), errno, Blame::input);
  struct stat about {};
  if (::fstat(file.get(), &about) != 0) return system_error("cannot read " + path.string(), errno, Blame::input);
  if (S_ISDIR(about.st_mode)) return bad_input("{}: expected a file, found a folder", path.string());
  if (S_ISFIFO(about.st_mode)) return bad_input("{}: expected a file, found a pipe", path.string());
  std::string contents;
  if (about.st_size > 0) contents.reserve(std::min(static_cast<size_t>(about.st_size), max_bytes) + 1);
  char chunk[1 << 16];
  while (true) {
    const ssize_t got = ::read(file.get(), chunk, sizeof chunk);
    if (got == 0) return contents;
    if (got < 0) {
      if (errno == EINTR) continue;
      return system_error("cannot read " + path.string(), errno, Blame::input);
    }
    if (contents.size() + static_cast<size_t>(got) > max_bytes)
      return bad_input("{}: larger than the {} bytes that are read at most", path.string(), max_bytes);
    contents.append(chunk, static_cast<size_t>(got));
  }
}

namespace {

Status write_all(int file, std::string_view contents, const fs::path& path) {
  while (!contents.empty()) {
    const ssize_t put = ::write(file, contents.data(), contents.size());
    if (put < 0) {
      if (errno == EINTR) continue;
      return system_error("cannot write " + path.string(), errno);
    }
    contents.remove_prefix(static_cast<size_t>(put));
  }
  return {};
}

Status sync_folder(const fs::path& folder) {
  Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return system_error("cannot open the folder " + folder.string(), errno);
  // Some network file systems do not know how to sync a folder; the rename itself was atomic.
  if (::fsync(opened.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    return system_error("cannot sync the folder " + folder.string(), errno);
  return {};
}

}  // namespace

Status write_file_atomically(const fs::path& path, std::string_view contents) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::string name = (folder / ("." + path.filename().string() + ".XXXXXX")).string();
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return system_error("cannot write " + path.string(), errno);
  auto give_up = [&](Status why) {
    ::unlink(name.c_str());
    return why;
  };
  if (auto written = write_all(file.get(), contents, path); !written) return give_up(std::move(written));
  if (::fchmod(file.get(), 0644) != 0 || ::fsync(file.get()) != 0)
    return give_up(system_error("cannot write " + path.string(), errno));
  if (::rename(name.c_str(), path.c_str()) != 0) return give_up(system_error("cannot replace " + path.string(), errno));
  return sync_folder(folder);
}

Expected<std::map<std::string, std::string>> read_tree(const fs::path& folder, TreeLimits limits) {
  std::error_code code;
  const fs::path root = fs::canonical(folder, code);
  if (code) return bad_input("cannot open the folder {}: {}", folder.string(), code.message());
  std::map<std::string, std::string> files;
  size_t bytes = 0;
  fs::recursive_directory_iterator at(root, code);
  if (code) return bad_input("cannot open the folder {}: {}", folder.string(), code.message());
  for (; at != fs::recursive_directory_iterator(); at.increment(code)) {
    const fs::path& path = at->path();
    if (path.filename().string().starts_with('.')) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_symlink(code)) {
      const fs::path target = fs::canonical(path, code);
      if (code) return bad_input("{}: a symbolic link to nothing", path.string());
      const fs::path inside = target.lexically_relative(root);
      if (inside.empty() || inside.begin()->string() == "..")
        return bad_input("{}: a symbolic link that leads out of {} (to {}); put the file itself there", path.string(),
                         folder.string(), target.string());
    }
    if (at->is_directory(code)) continue;
    if (!at->is_regular_file(code)) return bad_input("{}: neither a file nor a folder", path.string());
    if (files.size() == limits.max_files) return bad_input("{}: more than {} files", folder.string(), limits.max_files);
    WHET_TRY(std::string contents, read_file(path, limits.max_bytes));
    bytes += contents.size();
    if (bytes > limits.max_bytes)
      return bad_input("{}: more than {} bytes in all files", folder.string(), limits.max_bytes);
    files.emplace(path.lexically_relative(root).generic_string(), std::move(contents));
  }
  if (code) return bad_input("cannot read the folder {}: {}", folder.string(), code.message());
  return files;
}

Status write_tree(const fs::path& folder, const std::map<std::string, std::string>& files) {
  WHET_OK(make_folders(folder));
  for (const auto& [relative, contents] : files) {
    if (!is_plain_relative_path(relative))
      return bad_input("\"{}\": expected a plain relative path such as \"src/a.cc\"", relative);
    const fs::path path = folder / relative;
    WHET_OK(make_folders(path.parent_path()));
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
    if (!file) return system_error("cannot write " + path.string(), errno);
    WHET_OK(write_all(file.get(), contents, path));
  }
  return {};
}

bool is_plain_relative_path(std::string_view path) {
  if (path.empty() || path.size() > 1000) return false;
  size_t start = 0;
  while (start <= path.size()) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string_view part = path.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") return false;
    for (const char c : part)
      if (c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    start = end + 1;
  }
  return true;
}

Status make_folders(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return machine_failed("cannot make the folder {}: {}", folder.string(), code.message());
  return {};
}

namespace {

Descriptor open_folder(const fs::path& path) {
  return Descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// 0, or why the lock could not be had; ENOENT when somebody has removed the folder meanwhile.
int lock_folder(const Descriptor& folder, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  if (!folder || ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0 || ::fstat(folder.get(), &opened) != 0 ||
      ::lstat(path.c_str(), &named) != 0)
    return errno;
  return opened.st_ino == named.st_ino && opened.st_dev == named.st_dev ? 0 : ENOENT;
}

}  // namespace

Expected<TemporaryDirectory> TemporaryDirectory::make(const std::string& prefix, const fs::path& parent) {
  // Before it is locked a new folder looks abandoned, and may be gone again: then another one.
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = (parent / (prefix + "-XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
      return system_error("cannot make a temporary folder in " + parent.string(), errno);
    TemporaryDirectory made;
    made.lock_ = open_folder(name);
    const int refused = lock_folder(made.lock_, name);
    if (refused == EWOULDBLOCK || refused == ENOENT) continue;
    made.path_ = name;  // else, on a file system without such locks, nobody can take it for abandoned
    return made;
  }
  return machine_failed("{}: whatever temporary folder is made there is removed at once", parent.string());
}

void TemporaryDirectory::remove_abandoned(const std::string& prefix, const fs::path& parent) {
  std::error_code code;
  std::vector<fs::path> candidates;
  for (fs::directory_iterator at(parent, code), end; !code && at != end; at.increment(code)) {
    const std::string name = at->path().filename().string();
    if (name.size() == prefix.size() + 7 && name.starts_with(prefix + "-")) candidates.push_back(at->path());
  }
  for (const fs::path& path : candidates) {
    const Descriptor folder = open_folder(path);
    struct stat about {};
    if (!folder || ::fstat(folder.get(), &about) != 0 || about.st_uid != ::geteuid() || lock_folder(folder, path) != 0)
      continue;
    fs::remove_all(path, code);
  }
}

void TemporaryDirectory::remove() {
  if (path_.empty()) return;
  std::error_code ignored;  // nobody is left to be told
  fs::remove_all(path_, ignored);
  path_.clear();
  lock_.reset();
}

}  // namespace whet
