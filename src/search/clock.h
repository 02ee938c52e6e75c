// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace whet {

double steady_seconds();  // of a clock that never jumps; its zero means nothing
std::string now_utc();    // "2026-01-31T12:00:00Z"

}  // namespace whet
