// SPDX-License-Identifier: Apache-2.0
#include "record/keys.h"

#include <algorithm>
#include <numeric>

#include "base/json_impl.h"

namespace whet {
namespace {

constexpr std::size_t kLongestWord = 64;  // longer ones are not compared: the distance is quadratic

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Insertions, deletions and substitutions; case does not count.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (lower(a[i - 1]) != lower(b[j - 1]))});
      diagonal = above;
    }
  }
  return row.back();
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string suggestion(std::string_view found, std::span<const std::string> known) {
  const std::string* nearest = nullptr;
  std::size_t best =
      std::min(std::max<std::size_t>(2, found.size() / 3) + 1, found.size());  // something must be the same
  if (found.size() <= kLongestWord) {
    for (const std::string& word : known) {
      if (word.size() > kLongestWord) continue;
      if (std::size_t distance = edit_distance(found, word); distance < best) best = distance, nearest = &word;
    }
  }
  if (nearest) return "; did you mean \"" + *nearest + "\"?";
  if (known.empty()) return "; none is known here";
  std::string text = "; known: ";
  for (std::size_t i = 0; i < known.size() && i < 20; ++i) text += (i ? ", " : "") + known[i];
  return known.size() > 20 ? text + ", ..." : text;
}

void complain_about_unknown_keys(const Json& object, std::span<const std::string> known, JsonReader& in) {
  if (!object.is_object()) return;
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      in.complain(key, "unknown key" + suggestion(key, known));
}

bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > 120 || !(is_letter(name[0]) || is_digit(name[0]))) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '+' || c == '=' || c == '-';
  });
}

bool is_identifier(std::string_view name) {
  if (name.empty() || name.size() > 120 || !is_letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); });
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    const unsigned first = byte(i);
    const int more = first < 0x80                    ? 0
                     : first >= 0xC2 && first < 0xE0 ? 1
                     : first >= 0xE0 && first < 0xF0 ? 2
                     : first >= 0xF0 && first < 0xF5 ? 3
                                                     : -1;
    if (more < 0) return false;
    for (int k = 1; k <= more; ++k)
      if ((byte(i + k) & 0xC0) != 0x80) return false;
    const unsigned second = byte(i + 1);  // overlong forms, surrogates, beyond U+10FFFF
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F))
      return false;
    i += more + 1;
  }
  return true;
}

}  // namespace whet
