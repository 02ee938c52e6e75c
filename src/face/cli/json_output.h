// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.h"

namespace whet {

// --json FILE: whole or absent, "-" is standard output.
class JsonOutput {
 public:
  // Finds out before the work whether the result can be written: the folder exists and may be written to. Empty = not asked for.
  static Expected<JsonOutput> open(const std::string& file, std::string flag = "--json");

  bool wanted() const { return !file_.empty(); }
  bool to_stdout() const { return file_ == "-"; }
  Status write(const std::string& text) const;        // and a line feed
  Status write_as_is(const std::string& text) const;

 private:
  std::string file_, flag_;
};

}  // namespace whet
