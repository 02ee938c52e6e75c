// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace whet {

// A control group of one jail, v1 (a folder per hierarchy) or v2, below our own group so that limits laid on us still hold.
// Its folders go with the object; those of a worker that was killed are removed when the next one looks.
class Cgroup {
 public:
  // Where a controller's groups can be made.
  struct Place {
    std::filesystem::path folder;  // empty: nowhere
    bool v2 = false;
    std::string reason;  // why nowhere
  };
  static const Place& memory_place();  // looked up once per process
  static const Place& pids_place();

  // Makes the groups with those limits (0: none) wherever they can be made; `memory_refused` and `pids_refused` then say why not.
  static Cgroup make(uint64_t memory_bytes, uint64_t tasks);

  Cgroup() = default;
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  ~Cgroup();

  void add(pid_t pid);  // may turn a group into a refused one
  bool has_memory() const { return !memory_.empty(); }
  bool has_pids() const { return !pids_.empty(); }
  const std::string& memory_refused() const { return memory_refused_; }
  const std::string& pids_refused() const { return pids_refused_; }

  uint64_t memory_bytes() const;
  uint64_t memory_peak_bytes() const;
  uint64_t tasks() const;
  bool memory_limit_hit() const;  // something was killed for it
  bool tasks_limit_hit() const;
  std::vector<pid_t> members() const;  // processes

 private:
  void remove();

  bool v2_ = false;
  std::filesystem::path memory_, pids_;  // the same folder under v2
  std::string memory_refused_, pids_refused_;
};

// For the tests: memory, pids and unified hierarchies as /proc/self/mountinfo and /proc/self/cgroup describe them.
struct CgroupFolders {
  std::filesystem::path memory_v1, pids_v1, unified;  // our own group's folders; empty: no such hierarchy
};
CgroupFolders own_cgroup_folders(const std::string& mountinfo, const std::string& cgroup);

}  // namespace whet
