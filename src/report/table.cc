// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>

namespace whet {
namespace {

constexpr std::size_t kLeast = 8;  // no column shrinks below this

std::string_view code_of(Tint tint) {
  switch (tint) {
    case Tint::good: return "\x1b[32m";
    case Tint::bad: return "\x1b[31m";
    case Tint::faint: return "\x1b[2m";
    case Tint::strong: return "\x1b[1m";
    case Tint::none: break;
  }
  return "";
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }

}  // namespace

std::string tinted(std::string_view text, Tint tint, const ReportStyle& style) {
  if (!style.colour || tint == Tint::none || text.empty()) return std::string(text);
  return std::string(code_of(tint)) + std::string(text) + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  std::size_t keep = width > 3 ? width - 3 : width, bytes = 0;
  for (std::size_t characters = 0; bytes < text.size(); ++bytes)
    if (begins_character(text[bytes]) && characters++ == keep) break;
  return std::string(text.substr(0, bytes)) + (width > 3 ? "..." : "");
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result, line;
  auto put = [&](std::string_view word) {
    const bool first = line.find_first_not_of(' ') == std::string::npos;
    if (!first && display_width(line) + 1 + display_width(word) > width) {
      result += line + "\n";
      line = std::string(indent, ' ') + std::string(word);
    } else {
      line += first ? std::string(word) : " " + std::string(word);
    }
  };
  line = std::string(std::min(text.find_first_not_of(' '), text.size()), ' ');
  for (std::size_t at = 0; at < text.size();) {
    std::size_t begin = text.find_first_not_of(" \t\r\n", at);
    if (begin == std::string_view::npos) break;
    std::size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    put(text.substr(begin, end - begin));
    at = end;
  }
  return result + line + "\n";
}

std::vector<std::size_t> Table::widths(const ReportStyle& style) const {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = display_width(columns_[i].title);
    for (const Row& row : rows_)
      if (i < row.cells.size()) width = std::max(width, display_width(row.cells[i]));
    widths.push_back(width);
  }
  const auto total = [&] {
    std::size_t sum = indent_ + 2 * (columns_.size() - 1);
    for (std::size_t width : widths) sum += width;
    return sum;
  };
  while (total() > static_cast<std::size_t>(style.width)) {
    std::size_t widest = columns_.size();
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i].may_shrink && widths[i] > kLeast && (widest == columns_.size() || widths[i] > widths[widest])) widest = i;
    if (widest == columns_.size()) break;
    --widths[widest];
  }
  return widths;
}

std::string Table::text(const ReportStyle& style) const {
  if (columns_.empty()) return "";
  const std::vector<std::size_t> width = widths(style);
  std::string text;
  const auto line = [&](const std::vector<std::string>& cells, const std::vector<Tint>& tints, Tint all) {
    std::string line(indent_, ' ');
    std::size_t owed = 0;  // blanks not yet written, so that no line ends with one
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string cell = shortened(i < cells.size() ? cells[i] : "", width[i]);
      const std::size_t padding = width[i] - display_width(cell);
      if (columns_[i].align == Align::right) owed += padding;
      if (!cell.empty()) {
        line += std::string(owed, ' ') + tinted(cell, i < tints.size() ? tints[i] : all, style);
        owed = 0;
      }
      owed += 2 + (columns_[i].align == Align::left ? padding : 0);
    }
    text += line + "\n";
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  if (std::any_of(titles.begin(), titles.end(), [](const std::string& title) { return !title.empty(); })) line(titles, {}, Tint::faint);
  for (const Row& row : rows_) line(row.cells, row.tints, Tint::none);
  return text;
}

}  // namespace whet
