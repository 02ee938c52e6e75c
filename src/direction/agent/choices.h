// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace whet {

// One declared choice of a source file, a whole line of the form
//   inline constexpr int kDecodeF32Threads = 1;  // whet:tune {1, 2} family=decode_f32
// A value is any C++ constant without spaces, commas, braces or semicolons (a number, true, Path::blocked).
struct Choice {
  std::string file;
  int line = 0;                     // from 1
  std::string name;                 // unique in all files of a Solution
  std::string value;                // what stands there now; one of `values`
  std::vector<std::string> values;  // at least one, all different, in the order of the file
  std::string family;               // the workload family that it tunes
  bool operator==(const Choice&) const = default;
};

// The choices of one source. A line with code that says `whet:tune` and is not of the form above is an error which names file and line, says what was
// expected there and what was found. So are a name declared twice, a value listed twice, and a value outside its list.
Expected<std::vector<Choice>> parse_choices(std::string_view text, const std::string& file);

// The choices of all files (path -> contents), in order of path and line; names are unique over all of them.
Expected<std::vector<Choice>> parse_choices(const std::map<std::string, std::string>& files);

// Puts new values (name -> value) into the text; every other byte stays. The names are those of choices of this text or are ignored, and
// each value is one of the choice's list (else an error).
Expected<std::string> rewrite_choices(std::string_view text, const std::string& file, const std::map<std::string, std::string>& values);

// The same over all files. A name that no file declares is an error.
Expected<std::map<std::string, std::string>> rewrite_choices(const std::map<std::string, std::string>& files,
                                                             const std::map<std::string, std::string>& values);

}  // namespace whet
