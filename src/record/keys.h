// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace whet {

class JsonReader;

// "; did you mean \"goal\"?" when a known word is near, else "; known: a, b, c". For the end of a complaint about an unknown word.
std::string suggestion(std::string_view found, std::span<const std::string> known);

// Complains about every key of `object` that is not `known`, with a suggestion. `in` reads that object.
void complain_about_unknown_keys(const Json& object, std::span<const std::string> known, JsonReader& in);

// A name that may stand in a file name, on a command line and in a table: letters, digits, and . _ + = - inside, up to 120 characters.
bool is_plain_name(std::string_view name);
// A C (and Python) identifier.
bool is_identifier(std::string_view name);
bool is_utf8(std::string_view text);

}  // namespace whet
