// SPDX-License-Identifier: Apache-2.0
#include "task/toml_text.h"

namespace whet {
namespace {

constexpr int kMostDots = 15;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool beyond_ascii(char c) { return static_cast<unsigned char>(c) >= 0x80; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

// Walks over one string or comment. It stops with `stray` set at a character that must not be shown to the parser. Where the text is no TOML,
// the parser stops there itself and sees nothing of what follows, so it does not matter how the walk goes on.
struct Walk {
  std::string_view text;
  std::size_t at = 0;
  bool stray = false;

  void comment() {
    while (at < text.size() && text[at] != '\n') ++at;
  }

  void string() {
    const char quote = text[at];
    const std::size_t run = text.find_first_not_of(quote, at);
    const std::size_t quotes = (run == std::string_view::npos ? text.size() : run) - at;
    if (quotes == 2) {  // the empty string
      at += 2;
    } else if (quotes < 3) {
      ++at;
      one_line(quote);
    } else {
      at += 3;
      many_lines(quote);
    }
  }

 private:
  void one_line(char quote) {
    for (; at < text.size() && text[at] != '\n'; ++at) {
      if (text[at] == quote) {
        ++at;
        return;
      }
      if (quote == '"' && text[at] == '\\') ++at;
    }
  }

  void many_lines(char quote) {
    while (at < text.size()) {
      if (text.substr(at, 3) == std::string_view(quote == '"' ? "\"\"\"" : "'''")) {
        at += 3;
        for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more)
          ++at;  // up to two belong to the string
        return;
      }
      if (quote != '"' || text[at] != '\\') {
        ++at;
        continue;
      }
      ++at;
      if (at < text.size() && !is_blank(text[at]) && !beyond_ascii(text[at])) {
        ++at;  // an escape
        continue;
      }
      while (at < text.size() && is_blank(text[at])) ++at;  // a line's end that does not count
      if (at < text.size() && beyond_ascii(text[at])) {
        stray = true;
        return;
      }
    }
  }
};

}  // namespace

std::optional<TomlTrap> toml_trap(std::string_view toml) {
  static constexpr std::string_view kStray = "a character beyond ASCII outside of a string or comment";
  Walk walk{toml, toml.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0};
  int dots = 0;  // since the last sign that ends a key
  while (walk.at < toml.size() && !walk.stray) {
    const char c = toml[walk.at];
    if (beyond_ascii(c)) return TomlTrap{walk.at, kStray};
    dots = c == '.' ? dots + 1 : std::string_view("\n=,{[").find(c) != std::string_view::npos ? 0 : dots;
    if (dots > kMostDots) return TomlTrap{walk.at, "a key of more than 16 parts"};
    if (c == '#') walk.comment();
    else if (c == '"' || c == '\'') walk.string();
    else ++walk.at;
  }
  if (!walk.stray) return std::nullopt;
  return TomlTrap{walk.at, kStray};
}

}  // namespace whet
