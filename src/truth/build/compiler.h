// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace whet {

// What is known of the compilers; they are asked once, outside any jail (they are trusted, what they read is not).
struct Compiler {
  std::string cxx, cc;   // absolute paths
  std::string version;   // "g++ (Debian 12.2.0-14) 12.2.0"
  std::string target;    // "x86_64-linux-gnu"
  std::string native;    // what -march=native means on this machine: "znver4 -mavx512f ..."
  std::string identity;  // hash of all that can change what it produces, but `native`
};

// `cxx` and `cc` may be empty: the first g++ (or clang++) and its companion in the usual folders. An Error when there is none, with the
// command that installs one.
Expected<Compiler> find_compiler(const std::string& cxx, const std::string& cc);

// What a trusted compiler writes to stdout, outside any jail; an Error when it fails or takes more than 20 s.
Expected<std::string> ask_compiler(const std::vector<std::string>& argv, const std::string& input = "");

// Path, size and time: they name a version of a file without reading it.
std::string file_stamp(const std::string& path);

// A library that a Solution may depend on.
struct Dependency {
  std::string name;               // "openblas", as solution.json says it
  std::string header;             // "cblas.h"
  std::string library;            // "libopenblas.so"
  std::vector<std::string> link;  // {"-lopenblas"}
  std::string packages;           // what to install
};
const Dependency* find_dependency(const std::string& name);
std::string known_dependencies();  // "onednn, openblas"

// The library file that the linker would take, or why there is none (header or library missing).
struct FoundDependency {
  std::string file;     // resolved path; part of the cache's key with its size and time
  std::string missing;  // empty when it is there
};
FoundDependency probe_dependency(const Compiler& compiler, const Dependency& dependency);

}  // namespace whet
