// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "face/cli/session.h"

namespace whet {

// What profile, sanitize and disassemble share: a Solution of a task (and another to compare with), sent to a worker that answers one method.
struct ToolRequest {
  std::string task, solution, json;
  Places places;

  void declare(Arguments& arguments);
  // `workload` empty: none is sent. The error says which workloads there are.
  Expected<Json> ask(const Context& context, const std::string& method, const std::string& workload, const std::string& against,
                     const std::vector<std::string>& tools = {}) const;
};

}  // namespace whet
