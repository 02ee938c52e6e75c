// SPDX-License-Identifier: Apache-2.0
#include "face/cli/suggest.h"

#include <algorithm>

namespace whet {

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = above;
    above = row;
  }
  return above[b.size()];
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const std::string* best = nullptr;
  int least = static_cast<int>(std::max<std::size_t>(1, word.size() / 3)) + 1;
  for (const std::string& name : names) {
    int distance = edit_distance(word, name);
    // A beginning that was typed right is nearer than its length says: "attention" for "attention-cpu".
    if (word.size() >= 3 && name.substr(0, word.size()) == word) distance = 1;
    if (distance < least) {
      least = distance;
      best = &name;
    }
  }
  return best ? "; did you mean '" + *best + "'?" : "";
}

std::string listed(const std::vector<std::string>& names) {
  if (names.empty()) return "none";
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

}  // namespace whet
