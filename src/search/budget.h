// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "direction/agent/agent.h"

namespace whet {

// At `soft` the Agent is asked for the best that it has; at `hard` nothing new is begun and what runs is cancelled. Infinity = no limit.
struct Limit {
  double soft = std::numeric_limits<double>::infinity();
  double hard = std::numeric_limits<double>::infinity();
  bool operator==(const Limit&) const = default;
};

struct Budget {
  Limit tokens, dollars, steps, wall_seconds, device_seconds;
  bool operator==(const Budget&) const = default;
};

// Limits the wall time; the soft stop leaves a quarter, but at most 40 s, to merge, challenge and confirm.
Limit wall_limit(double seconds);

struct Spent {
  Usage usage;
  double steps = 0, wall_seconds = 0, device_seconds = 0;
};

enum class Stop { none, soft, hard };
struct BudgetState {
  Stop stop = Stop::none;
  std::string limit;  // "wall_seconds: 91 of 90 (soft)"; the first one reached, hard ones first
};
BudgetState check(const Budget& budget, const Spent& spent);

Json to_json(const Budget& budget);  // limits that are infinite are left out
Expected<Budget> budget_from_json(const Json& json, const std::string& where);

}  // namespace whet
