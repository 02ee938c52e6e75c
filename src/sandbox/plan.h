// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.h"
#include "sandbox/cgroup.h"
#include "sandbox/inside.h"
#include "sandbox/jail.h"
#include "sandbox/walls.h"

namespace whet {

constexpr uid_t kJailUser = 65534;  // nobody, inside; outside too when we are root

// Turns what is wanted and what the machine grants into the child's list of steps. `host_scratch` is the folder that stands in for the
// scratch where there is no mount namespace. Descriptors, pipes and the cgroup's outcome are filled in by the caller.
Expected<InsidePlan> plan_jail(const JailSpec& spec, const MachineWalls& machine, const std::string& host_scratch);

// Needs to know whether the cgroup holds the memory.
void plan_limits(InsidePlan& plan, const JailLimits& limits, const MachineWalls& machine, bool memory_is_held,
                 bool tasks_are_held);

}  // namespace whet
