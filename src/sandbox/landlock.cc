// SPDX-License-Identifier: Apache-2.0
#include "sandbox/landlock.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

// glibc has no wrappers, and distributions' <linux/landlock.h> is older than the kernels we meet: the numbers are part of the kernel's ABI.
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

namespace whet {
namespace {

struct RulesetAttributes {
  uint64_t fs;
  uint64_t net;     // version 4
  uint64_t scoped;  // version 6
};

struct [[gnu::packed]] PathBeneath {
  uint64_t allowed;
  int32_t parent;
};

constexpr uint64_t kExecute = 1, kWriteFile = 2, kReadFile = 4, kReadDir = 8, kTruncate = 1 << 14,
                   kIoctlDevice = 1 << 15;

uint64_t all_fs(int abi) {
  const int bits = abi >= 5 ? 16 : abi >= 3 ? 15 : abi == 2 ? 14 : 13;
  return (uint64_t{1} << bits) - 1;
}

}  // namespace

int landlock_abi() {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, 1);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

int landlock_new_ruleset(int abi) {
  const RulesetAttributes attributes{all_fs(abi), 3, 3};  // TCP bind and connect; abstract sockets and signals
  const size_t size = abi >= 6 ? 24 : abi >= 4 ? 16 : 8;
  return static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0));
}

int landlock_allow(int ruleset, int abi, const char* path, bool writable, bool folder) {
  const int opened = ::open(path, O_PATH | O_CLOEXEC);
  if (opened < 0) return errno == ENOENT ? 0 : -1;
  uint64_t allowed = kExecute | kReadFile | kReadDir;
  if (writable) allowed = all_fs(abi) & ~kExecute;
  if (!folder) allowed &= kExecute | kReadFile | kWriteFile | kTruncate | kIoctlDevice;
  const PathBeneath rule{allowed & all_fs(abi), opened};
  const long done = ::syscall(SYS_landlock_add_rule, ruleset, 1, &rule, 0);
  const int why = errno;
  ::close(opened);
  errno = why;
  return static_cast<int>(done);
}

int landlock_restrict(int ruleset) { return static_cast<int>(::syscall(SYS_landlock_restrict_self, ruleset, 0)); }

}  // namespace whet
