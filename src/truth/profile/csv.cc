// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/csv.h"

namespace whet {
namespace {

// The cell that begins at `at`; leaves `at` on the comma or line end behind it.
std::string take_cell(std::string_view text, std::size_t& at) {
  std::string cell;
  if (at < text.size() && text[at] == '"') {
    for (++at; at < text.size(); ++at) {
      if (text[at] != '"') {
        cell += text[at];
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        cell += text[++at];
      } else {
        ++at;
        break;
      }
    }
  }
  while (at < text.size() && text[at] != ',' && text[at] != '\n') cell += text[at++];
  if (!cell.empty() && cell.back() == '\r') cell.pop_back();
  return cell;
}

}  // namespace

std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> rows;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n' || text[at] == '\r') {
      ++at;
      continue;
    }
    std::vector<std::string> row;
    for (;;) {
      row.push_back(take_cell(text, at));
      if (at >= text.size() || text[at] == '\n') break;
      ++at;  // the comma
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace whet
