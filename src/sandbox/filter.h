// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>

#include <vector>

#include "base/error.h"
#include "sandbox/jail.h"

namespace whet {

// The filter that a payload starts with, as a program that a child can install without allocating. Made once per profile.
Expected<std::vector<sock_filter>> start_filter(SyscallProfile profile);

}  // namespace whet
