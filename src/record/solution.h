// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// Code that implements one or several Definitions (FlashInfer Trace's Solution with `binding: "whet"`).
struct Solution {
  std::string name;
  std::string author;
  std::string description;
  std::string language = "cpp";  // cpp, cuda, python, triton; what this build can run is the judge's word
  std::vector<std::string> target_hardware;
  std::string entry_point;                     // "entry.cc::whet_solution_v1"
  std::vector<std::string> dependencies;       // "openblas", "onednn"
  std::vector<std::string> cflags, ld_flags;   // spec.compile_options
  std::vector<std::string> definitions;        // whet.definitions, or {definition}
  std::map<std::string, std::string> sources;  // path below the folder -> contents
  std::string binding = "whet";                // whet, tvm-ffi, torch; only the first can be judged from C++ or CUDA
  bool destination_passing = true;             // run(inputs..., outputs...), as opposed to returning the outputs
  bool operator==(const Solution&) const = default;
};

// `files` is the Solution's folder: solution.json whose `sources` are globs ("*.cc", "kernels/*.h") below it, or FlashInfer's inlined
// [{path, content}]. `where` names the folder in complaints. Globs are those of record/glob.h.
Solution solution_from_files(const std::map<std::string, std::string>& files, const std::string& where,
                             std::vector<std::string>& complaints);

// As FlashInfer Trace writes it, contents inlined; `definition` picks which of ours stands under their single key.
Json to_json(const Solution& solution, const std::string& definition);

// The content address: everything that can change what runs (sources, flags, dependencies, entry point, definitions), not name or description.
std::string solution_hash(const Solution& solution);

}  // namespace whet
