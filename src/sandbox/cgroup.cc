// SPDX-License-Identifier: Apache-2.0
#include "sandbox/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>
#include <utility>

#include "base/file.h"

namespace whet {

namespace fs = std::filesystem;

namespace {

std::string write_value(const fs::path& file, const std::string& value) {
  Descriptor opened(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  if (opened && ::write(opened.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size())) return {};
  return fmt::format("cannot write {} to {}: {}", value, file.string(), std::strerror(errno));
}

uint64_t read_number(const fs::path& file) {
  const auto text = read_file(file, 4096);
  uint64_t number = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), number);
  return number;
}

// "oom_kill 3" in a file of such lines.
uint64_t read_counter(const fs::path& file, const std::string& name) {
  const auto text = read_file(file, 4096);
  if (!text) return 0;
  std::istringstream lines(*text);
  std::string key;
  for (uint64_t value = 0; lines >> key >> value;)
    if (key == name) return value;
  return 0;
}

// Field 22 of /proc/PID/stat: with the pid it names a process for as long as the machine runs.
std::string start_time(pid_t pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  if (!stat) return {};
  std::istringstream fields(stat->substr(stat->rfind(')') + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) fields >> field;
  return field;
}

constexpr std::string_view kPrefix = "whet-";

// Groups of jails whose worker is gone. Their processes died with it; a group that still holds one cannot be removed and stays.
void remove_stale(const fs::path& folder) {
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    std::istringstream parts(name.substr(kPrefix.size()));
    pid_t pid = 0;
    char dash = 0;
    std::string started;
    if (!(parts >> pid >> dash) || !std::getline(parts, started, '-')) continue;
    if (start_time(pid) != started) ::rmdir(entry.path().c_str());
  }
}

// Makes and removes a group, to learn whether it is allowed; `file` must appear in it.
std::string try_place(const fs::path& folder, const char* file) {
  const fs::path probe = folder / fmt::format("{}{}-{}-probe", kPrefix, ::getpid(), start_time(::getpid()));
  if (::mkdir(probe.c_str(), 0755) != 0 && errno != EEXIST)
    return fmt::format("cannot make a group in {}: {}", folder.string(), std::strerror(errno));
  const bool controlled = ::access((probe / file).c_str(), W_OK) == 0;
  ::rmdir(probe.c_str());
  if (!controlled) return fmt::format("groups in {} have no {}", folder.string(), file);
  return {};
}

Cgroup::Place find_place(const fs::path& v1, const fs::path& unified, const char* v1_file, const char* v2_file) {
  Cgroup::Place place;
  place.reason = "no cgroup hierarchy is mounted";
  if (!v1.empty()) {
    place.reason = try_place(v1, v1_file);
    if (place.reason.empty()) place.folder = v1;
  }
  if (place.folder.empty() && !unified.empty()) {
    // v2 forbids controllers below a group that has processes, unless it is the root; then a sibling of ours must do.
    for (const fs::path& folder : {unified, unified.parent_path()}) {
      const std::string refused = try_place(folder, v2_file);
      if (refused.empty()) {
        place = {folder, true, {}};
        break;
      }
      if (v1.empty()) place.reason = refused;
    }
  }
  if (!place.folder.empty()) remove_stale(place.folder);
  return place;
}

CgroupFolders own_folders() {
  return own_cgroup_folders(read_file("/proc/self/mountinfo", 4 << 20).value_or(""),
                            read_file("/proc/self/cgroup", 1 << 16).value_or(""));
}

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string one; std::getline(words, one, ',');)
    if (one == word) return true;
  return false;
}

}  // namespace

CgroupFolders own_cgroup_folders(const std::string& mountinfo, const std::string& cgroup) {
  CgroupFolders folders;
  std::istringstream groups(cgroup);
  for (std::string group; std::getline(groups, group);) {
    const size_t first = group.find(':'), second = group.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = group.substr(first + 1, second - first - 1);
    const std::string path = group.substr(second + 1);
    std::istringstream mounts(mountinfo);
    for (std::string mount; std::getline(mounts, mount);) {
      // ID parent major:minor root mountpoint options [tags] - type source super-options
      std::istringstream fields(mount);
      std::string skip, root, point, type, source, options;
      fields >> skip >> skip >> skip >> root >> point;
      while (fields >> skip && skip != "-") {}
      fields >> type >> source >> options;
      std::string below = path;
      if (root != "/" && below.starts_with(root)) below = below.substr(root.size());
      if (below.find("/..") != std::string::npos) continue;  // our group lies outside of what is mounted here
      const fs::path folder = below.empty() || below == "/" ? fs::path(point) : fs::path(point + below);
      if (type == "cgroup" && has_word(controllers, "memory") && has_word(options, "memory") &&
          folders.memory_v1.empty())
        folders.memory_v1 = folder;
      if (type == "cgroup" && has_word(controllers, "pids") && has_word(options, "pids") && folders.pids_v1.empty())
        folders.pids_v1 = folder;
      if (type == "cgroup2" && controllers.empty() && folders.unified.empty()) folders.unified = folder;
    }
  }
  return folders;
}

const Cgroup::Place& Cgroup::memory_place() {
  static const Place place = [] {
    const auto own = own_folders();
    return find_place(own.memory_v1, own.unified, "memory.limit_in_bytes", "memory.max");
  }();
  return place;
}

const Cgroup::Place& Cgroup::pids_place() {
  static const Place place = [] {
    const auto own = own_folders();
    return find_place(own.pids_v1, own.unified, "pids.max", "pids.max");
  }();
  return place;
}

Cgroup Cgroup::make(uint64_t memory_bytes, uint64_t tasks) {
  static std::atomic<unsigned> counter{0};
  static const std::string stem = fmt::format("{}{}-{}-", kPrefix, ::getpid(), start_time(::getpid()));
  const std::string name = stem + std::to_string(counter++);
  Cgroup group;
  auto open = [&](const Place& place, fs::path& folder, std::string& refused) {
    refused = place.reason;
    if (place.folder.empty()) return;
    folder = place.folder / name;
    if (::mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) return;
    refused = fmt::format("cannot make {}: {}", folder.string(), std::strerror(errno));
    folder.clear();
  };
  open(memory_place(), group.memory_, group.memory_refused_);
  open(pids_place(), group.pids_, group.pids_refused_);
  group.v2_ = memory_place().v2;
  if (group.has_memory() && memory_bytes > 0) {
    const std::string limit = std::to_string(memory_bytes);
    group.memory_refused_ = write_value(group.memory_ / (group.v2_ ? "memory.max" : "memory.limit_in_bytes"), limit);
    // Swap must not be a way round the limit; a kernel without swap accounting lacks the file.
    if (group.v2_)
      write_value(group.memory_ / "memory.swap.max", "0"), write_value(group.memory_ / "memory.oom.group", "1");
    else write_value(group.memory_ / "memory.memsw.limit_in_bytes", limit);
  }
  if (group.has_pids() && tasks > 0) group.pids_refused_ = write_value(group.pids_ / "pids.max", std::to_string(tasks));
  return group;
}

void Cgroup::add(pid_t pid) {
  const std::string number = std::to_string(pid);
  if (has_memory() && memory_refused_.empty()) memory_refused_ = write_value(memory_ / "cgroup.procs", number);
  if (has_pids() && pids_refused_.empty() && pids_ != memory_)
    pids_refused_ = write_value(pids_ / "cgroup.procs", number);
}

uint64_t Cgroup::memory_bytes() const {
  return has_memory() ? read_number(memory_ / (v2_ ? "memory.current" : "memory.usage_in_bytes")) : 0;
}

uint64_t Cgroup::memory_peak_bytes() const {
  return has_memory() ? read_number(memory_ / (v2_ ? "memory.peak" : "memory.max_usage_in_bytes")) : 0;
}

uint64_t Cgroup::tasks() const { return has_pids() ? read_number(pids_ / "pids.current") : 0; }

bool Cgroup::memory_limit_hit() const {
  return has_memory() && read_counter(memory_ / (v2_ ? "memory.events" : "memory.oom_control"), "oom_kill") > 0;
}

bool Cgroup::tasks_limit_hit() const { return has_pids() && read_counter(pids_ / "pids.events", "max") > 0; }

std::vector<pid_t> Cgroup::members() const {
  std::vector<pid_t> pids;
  for (const fs::path* folder : {&pids_, &memory_}) {
    const auto text = folder->empty() ? Expected<std::string>("") : read_file(*folder / "cgroup.procs", 1 << 20);
    if (!text) continue;
    std::istringstream numbers(*text);
    for (pid_t pid = 0; numbers >> pid;) pids.push_back(pid);
  }
  return pids;
}

Cgroup::Cgroup(Cgroup&& other) noexcept { *this = std::move(other); }

Cgroup& Cgroup::operator=(Cgroup&& other) noexcept {
  if (this == &other) return *this;
  remove();
  v2_ = other.v2_;
  memory_ = std::exchange(other.memory_, {});
  pids_ = std::exchange(other.pids_, {});
  memory_refused_ = std::move(other.memory_refused_);
  pids_refused_ = std::move(other.pids_refused_);
  return *this;
}

Cgroup::~Cgroup() { remove(); }

void Cgroup::remove() {
  for (fs::path* folder : {&memory_, &pids_}) {
    if (folder->empty()) continue;
    // The last task may still be on its way out of the group although it has been reaped.
    for (int attempt = 0; attempt < 200 && ::rmdir(folder->c_str()) != 0 && errno == EBUSY; ++attempt) ::usleep(500);
    folder->clear();
  }
}

}  // namespace whet
