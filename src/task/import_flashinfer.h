// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "task/load.h"

namespace whet {

// One Definition of a FlashInfer Trace data set as a task folder of ours.
struct ImportedTask {
  std::string name;  // the Definition's
  TaskFiles files;   // task.toml, definition, workloads, runnable Solutions
  std::vector<std::pair<std::string, std::filesystem::path>>
      payloads;                           // path in the task -> safetensors file of the data set, to be copied
  std::vector<std::string> still_needed;  // what a person must supply before it can be judged
};

struct Imported {
  std::vector<ImportedTask> tasks;
  std::vector<std::string>
      not_runnable;  // Solutions in languages or bindings that cannot be judged here, with the reason
  std::vector<std::string> payloads_missing;  // Git-LFS pointers and absent files, by path in the data set
  std::vector<std::string> complaints;        // what was left out, with file, key, expected and found
};

// Reads definitions/**.json, workloads/**.jsonl, solutions/**.json and the headers of the safetensors that workloads name, below `folder`. A
// workload with a complaint or without its payload is left out, its Definition stays. Nothing outside `folder` is read. An error when
// there is no data set at all.
Expected<Imported> import_flashinfer(const std::filesystem::path& folder);

}  // namespace whet
