// SPDX-License-Identifier: Apache-2.0
#include "record/glob.h"

#include <vector>

namespace whet {

// One row of "does pattern[0..p) match path[0..i)" per pattern element: time is pattern x path, whatever a hostile pattern says.
bool glob_matches(std::string_view pattern, std::string_view path) {
  std::vector<char> reach(path.size() + 1, 0);
  reach[0] = 1;
  for (std::size_t p = 0; p < pattern.size(); ++p) {
    std::vector<char> next(path.size() + 1, 0);
    if (pattern[p] == '*') {
      const bool slashes = p + 1 < pattern.size() && pattern[p + 1] == '*';
      if (slashes) ++p;
      // "**/" also matches nothing, so that "**/*.cc" finds files at the top.
      const bool with_slash = slashes && p + 1 < pattern.size() && pattern[p + 1] == '/';
      for (std::size_t i = 0; i <= path.size(); ++i)
        next[i] = reach[i] || (i > 0 && next[i - 1] && (slashes || path[i - 1] != '/'));
      if (with_slash) {
        ++p;
        std::vector<char> after(path.size() + 1, 0);
        for (std::size_t i = 0; i <= path.size(); ++i)
          after[i] = reach[i] || (i > 0 && next[i - 1] && path[i - 1] == '/');
        next = std::move(after);
      }
    } else {
      for (std::size_t i = 1; i <= path.size(); ++i)
        next[i] = reach[i - 1] && (pattern[p] == path[i - 1] || (pattern[p] == '?' && path[i - 1] != '/'));
    }
    reach = std::move(next);
  }
  return reach[path.size()] != 0;
}

}  // namespace whet
