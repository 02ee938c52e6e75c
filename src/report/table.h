// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whet {

// How reports look.
struct ReportStyle {
  int width = 100;        // columns of the terminal
  bool colour = false;    // ANSI colours
  bool columns = false;   // the resident and cold times too
};

enum class Tint { none, good, bad, faint, strong };
std::string tinted(std::string_view text, Tint tint, const ReportStyle& style);

// Characters, not bytes (UTF-8).
std::size_t display_width(std::string_view text);
// At most `width` characters; "..." stands for what is left out.
std::string shortened(std::string_view text, std::size_t width);
// Lines of at most `width` characters, broken at blanks; the second and later ones begin with `indent` blanks. Ends with a line feed.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

// Aligned columns, two blanks apart. If a row would be wider than the style allows, the columns that may shrink do.
class Table {
 public:
  enum class Align { left, right };
  explicit Table(std::size_t indent = 0) : indent_(indent) {}

  void column(std::string title, Align align, bool may_shrink = false) { columns_.push_back({std::move(title), align, may_shrink}); }
  void row(std::vector<std::string> cells, std::vector<Tint> tints = {}) { rows_.push_back({std::move(cells), std::move(tints)}); }
  bool empty() const { return rows_.empty(); }
  std::string text(const ReportStyle& style) const;

 private:
  struct Column {
    std::string title;
    Align align;
    bool may_shrink;
  };
  struct Row {
    std::vector<std::string> cells;
    std::vector<Tint> tints;
  };
  std::vector<std::size_t> widths(const ReportStyle& style) const;

  std::size_t indent_;
  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace whet
