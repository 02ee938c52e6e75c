// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sandbox/jail.h"

namespace whet {

// What this machine lets us build a jail of; probed once per process by children that exit at once.
struct MachineWalls {
  int clone_flags = 0;  // of the namespaces that are granted together
  bool user_namespace = false, mount_namespace = false, pid_namespace = false, network_namespace = false,
       ipc_namespace = false, uts_namespace = false;
  bool fresh_proc = false;
  int landlock_abi = 0;
  std::vector<Wall> walls;  // all but cgroups, which are known per jail
};
const MachineWalls& machine_walls();

}  // namespace whet
