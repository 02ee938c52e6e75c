// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "task/load.h"

namespace whet {

// A small task that works as it stands and is meant to be changed: y = scale * x + b on vectors; three workloads in two families, a reference in
// double precision, a baseline, a start with one declared choice; every file explains itself. An error when the name is no plain name.
Expected<TaskFiles> new_task(const std::string& name);

}  // namespace whet
