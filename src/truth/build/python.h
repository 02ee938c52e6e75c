// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/solution.h"
#include "truth/build/builder.h"

namespace whet {

// The machine's interpreter, as it says of itself.
struct Python {
  std::string executable;            // absolute, no link
  std::string version;               // "3.12.3"
  std::vector<std::string> path;     // sys.path
  std::vector<std::string> folders;  // of it and of what is installed for it, outside /usr and /lib; none below another
  std::string missing;               // why there is none that can be used; empty otherwise
  bool usable() const { return missing.empty(); }
};

// The first python3 of `search` (folders), then of /usr/local/bin and /usr/bin, that answers: 3.8 or later, with ctypes.
Python find_python(const std::vector<std::string>& search);

// What stands for a build: the modules that `dependencies` names are there, and the Solution lies in a folder of the cache, as whet.py reads it. Nothing of it is run.
Expected<BuildOutcome> place_python(const Solution& solution, const Python& python, const std::filesystem::path& cache_folder);

}  // namespace whet
