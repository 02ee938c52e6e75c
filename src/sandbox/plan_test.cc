// SPDX-License-Identifier: Apache-2.0
#include "sandbox/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace whet {
namespace {

using testing::UnorderedElementsAre;

// As Runner::start() asks for it, on a machine that grants everything.
JailSpec runner_spec() {
  JailSpec spec;
  spec.argv = {"/proc/self/exe", "--runner", "x"};
  spec.profile = SyscallProfile::runner;
  return spec;
}
MachineWalls all_walls() {
  MachineWalls machine;
  machine.user_namespace = machine.mount_namespace = machine.pid_namespace = machine.fresh_proc = true;
  machine.landlock_abi = 7;
  return machine;
}

std::set<std::string> with_devices(const InsidePlan& plan) {
  std::set<std::string> paths;
  for (const auto& mount : plan.mounts)
    if (mount.with_devices) paths.insert(mount.inside);
  return paths;
}
std::set<std::string> writable(const InsidePlan& plan) {
  std::set<std::string> paths;
  for (const auto& rule : plan.landlock_rules)
    if (rule.writable) paths.insert(rule.path);
  return paths;
}

TEST(PlanJail, ARunnerOfTheCpuHasNoDevicesButTheHarmless) {
  const auto plan = plan_jail(runner_spec(), all_walls(), "");
  ASSERT_TRUE(plan) << plan.error().what;
  EXPECT_THAT(with_devices(*plan), UnorderedElementsAre("dev/null", "dev/zero", "dev/urandom", "dev/random"));
  EXPECT_THAT(writable(*plan), UnorderedElementsAre("/dev/null", "/dev/zero"));
}

TEST(PlanJail, DevicesAreAddedAndNothingElseChanges) {
  JailSpec spec = runner_spec();
  const auto before = plan_jail(spec, all_walls(), "");
  spec.devices = {"/dev/full"};
  const auto after = plan_jail(spec, all_walls(), "");
  ASSERT_TRUE(before && after);
  EXPECT_THAT(with_devices(*after), UnorderedElementsAre("dev/null", "dev/zero", "dev/urandom", "dev/random", "dev/full"));
  EXPECT_THAT(writable(*after), UnorderedElementsAre("/dev/null", "/dev/zero", "/dev/full", "/proc"));
  EXPECT_EQ(after->mounts.size(), before->mounts.size() + 1);
  EXPECT_EQ(after->landlock_rules.size(), before->landlock_rules.size() + 2);
  EXPECT_EQ(after->filter.size(), before->filter.size());
}

TEST(PlanJail, WithoutAMountNamespaceDevicesOpenProc) {
  MachineWalls machine = all_walls();
  machine.mount_namespace = false;
  JailSpec spec = runner_spec();
  const auto reads_proc = [](const InsidePlan& plan) {
    return std::any_of(plan.landlock_rules.begin(), plan.landlock_rules.end(), [](const auto& rule) { return rule.path == "/proc"; });
  };
  EXPECT_FALSE(reads_proc(*plan_jail(spec, machine, "")));
  spec.devices = {"/dev/full"};
  EXPECT_TRUE(reads_proc(*plan_jail(spec, machine, "")));
}

TEST(PlanJail, NamesADeviceThatIsNotThere) {
  JailSpec spec = runner_spec();
  spec.devices = {"/dev/no-such-gpu"};
  const auto plan = plan_jail(spec, all_walls(), "");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().what, "/dev/no-such-gpu: cannot be given to a jail: there is no such device file");
}

}  // namespace
}  // namespace whet
