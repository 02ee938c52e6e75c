// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace whet {

// Whether a path (forward slashes) matches a pattern: `*` is any run of characters without a slash, `**` also with slashes, `?` is one
// character that is no slash; everything else stands for itself. The whole path must match.
bool glob_matches(std::string_view pattern, std::string_view path);

}  // namespace whet
