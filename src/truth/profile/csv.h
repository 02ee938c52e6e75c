// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whet {

// Comma-separated values as RFC 4180 has them: quoted cells may hold commas, line feeds and doubled quotes. Never fails: a quote that is never
// closed reaches to the end of the text. Empty lines are left out.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

}  // namespace whet
