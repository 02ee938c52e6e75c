// SPDX-License-Identifier: Apache-2.0
#include "sandbox/cgroup.h"

#include <gtest/gtest.h>

namespace whet {
namespace {

TEST(Cgroup, FindsOurGroupInEveryLayout) {
  const auto v1 = own_cgroup_folders(
      "30 25 0:26 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
      "31 25 0:27 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
      "32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
      "4:memory:/a/b\n8:pids:/docker/abc\n0::/\n");
  EXPECT_EQ(v1.memory_v1, "/sys/fs/cgroup/memory/a/b");
  EXPECT_EQ(v1.pids_v1, "/sys/fs/cgroup/pids");
  EXPECT_EQ(v1.unified, "/sys/fs/cgroup/unified");
  const auto v2 =
      own_cgroup_folders("30 25 0:26 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n", "0::/user.slice/x.scope\n");
  EXPECT_EQ(v2.unified, "/sys/fs/cgroup/user.slice/x.scope");
  EXPECT_EQ(v2.memory_v1, "");
  EXPECT_EQ(own_cgroup_folders("", "").unified, "");
}

}  // namespace
}  // namespace whet
