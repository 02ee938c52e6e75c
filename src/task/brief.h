// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "record/task.h"

namespace whet {

// The part of a Task that an agent may see. Never in it: expected outputs, keys of draws, the reference Solution's and the baselines' code, and
// workloads that no set lists (hidden ones are drawn from the ranges when they are needed).
struct Brief {
  std::string task, title, target;
  std::string goal;  // one sentence
  std::vector<std::string> rules;
  std::vector<Definition> definitions;
  std::vector<std::string> workloads;        // one line each: name, definition, family, axes, scalars, sets, tolerance
  std::vector<std::string> baselines;        // "openblas: composed from ..."
  std::vector<std::string> editable;         // globs
  std::map<std::string, std::string> start;  // the start Solution's folder: path -> contents
  std::map<std::string, std::string> headers;  // "attention_f32.h" -> typed header
  std::string text() const;                    // all of it but the files' contents, as Markdown
};

Brief cut_brief(const Task& task);

}  // namespace whet
