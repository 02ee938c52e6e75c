// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace whet {

// The kernel's Landlock version; 0 when it has none or it is switched off (errno then says why).
int landlock_abi();

// The three below neither allocate nor lock. All return -1 with errno on failure.
int landlock_new_ruleset(int abi);  // everything is denied that this version can deny
int landlock_allow(int ruleset, int abi, const char* path, bool writable, bool folder);
int landlock_restrict(int ruleset);

}  // namespace whet
