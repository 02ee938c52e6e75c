// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace whet {

// What the child does between clone and exec, made beforehand: in a process that was cloned from one with many threads nothing may
// allocate, lock or throw. All strings outlive the clone because the child has a copy of our memory.
struct InsidePlan {
  struct Mount {
    std::string host;
    std::string inside;  // without the leading slash: relative to the new root
    bool writable = false;
    bool with_devices = false;
  };
  struct LandlockRule {
    std::string path;  // as it is seen inside
    bool writable = false;
    bool folder = false;
  };

  bool mount_namespace = false;
  std::vector<std::string> folders;  // of the new root, parents first, without the leading slash
  std::vector<std::string> files;    // empty files to mount on
  std::vector<std::pair<std::string, std::string>> symlinks;  // target, path
  std::vector<Mount> mounts;
  bool proc_mount = false;
  std::string scratch;          // relative to the new root; empty: none
  std::string scratch_options;  // "size=...,mode=0700"

  bool change_user = false;   // to `user`, inside numbers
  bool clear_groups = false;  // only possible for a privileged parent
  uid_t user = 65534;
  bool new_session = true;
  bool hostname = false;

  std::string working_directory;
  std::vector<std::pair<int, rlimit>> limits;
  std::vector<std::pair<int, int>> descriptors;
  std::vector<unsigned long> core_mask;  // empty: unchanged

  bool landlock = false;
  int landlock_abi = 0;
  std::vector<LandlockRule> landlock_rules;
  std::vector<sock_filter> filter;

  std::vector<std::string> argv_words, environment_words;
  std::vector<char*> argv, environment;  // pointers into the words, null at the end

  int parent = -1;    // a pidfd of the parent; -1 where the kernel has none
  int go_read = -1;   // one byte when the parent has mapped the user and joined the cgroup; end of file when it died
  int go_write = -1;  // the parent's end, closed at once
  int report_write = -1;  // a StepFailure, or end of file at exec
};

struct StepFailure {
  int error_number;
  char step[124];
};

// Never returns: it becomes the payload, or reports the step that failed and exits with 127.
[[noreturn]] void become_payload(const InsidePlan& plan);

}  // namespace whet
