// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/error.h"

namespace whet {

struct RunPlace {
  std::string id;      // letters, digits, '-'
  std::string folder;
};

// RUN on the command line: a name (kept in DATA/runs/NAME), or a folder when there is a slash in it (the id is then the folder's name).
Expected<RunPlace> run_place(const std::string& argument, const std::string& data_folder);

// "attention-cpu-20260131-235959", in UTC.
std::string new_run_name(const std::string& task);

}  // namespace whet
