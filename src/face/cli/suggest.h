// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whet {

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
int edit_distance(std::string_view a, std::string_view b);

// "; did you mean 'attention-cpu'?" for the nearest of `names`, or "" when none is near.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names);

// "a, b and c"; "none" when empty.
std::string listed(const std::vector<std::string>& names);

}  // namespace whet
