// SPDX-License-Identifier: Apache-2.0
#include "search/budget.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/json_impl.h"

namespace whet {
namespace {

using Member = Limit Budget::*;
constexpr std::array<std::pair<const char*, Member>, 5> kLimits = {{{"tokens", &Budget::tokens},
                                                                     {"dollars", &Budget::dollars},
                                                                     {"steps", &Budget::steps},
                                                                     {"wall_seconds", &Budget::wall_seconds},
                                                                     {"device_seconds", &Budget::device_seconds}}};

double amount(const Spent& spent, std::size_t i) {
  const double amounts[] = {static_cast<double>(spent.usage.tokens), spent.usage.dollars, spent.steps, spent.wall_seconds, spent.device_seconds};
  return amounts[i];
}

}  // namespace

Limit wall_limit(double seconds) { return {seconds - std::min(40.0, 0.25 * seconds), seconds}; }

BudgetState check(const Budget& budget, const Spent& spent) {
  for (Stop stop : {Stop::hard, Stop::soft})
    for (std::size_t i = 0; i < kLimits.size(); ++i) {
      const auto& [name, member] = kLimits[i];
      const double limit = stop == Stop::hard ? (budget.*member).hard : (budget.*member).soft;
      if (amount(spent, i) >= limit)
        return {stop, fmt::format("{}: {:g} of {:g} ({})", name, amount(spent, i), limit, stop == Stop::hard ? "hard" : "soft")};
    }
  return {};
}

Json to_json(const Budget& budget) {
  Json json = Json::object();
  for (const auto& [name, member] : kLimits) {
    const Limit& limit = budget.*member;
    if (std::isfinite(limit.soft)) json[name]["soft"] = limit.soft;
    if (std::isfinite(limit.hard)) json[name]["hard"] = limit.hard;
  }
  return json;
}

Expected<Budget> budget_from_json(const Json& json, const std::string& where) {
  std::vector<std::string> complaints;
  Budget budget;
  JsonReader in(json, where, "", complaints);
  for (const auto& [name, member] : kLimits) {
    const Json* found = in.find(name);
    if (!found) continue;
    JsonReader limit(*found, where, name, complaints);
    (budget.*member).soft = limit.number_or("soft", std::numeric_limits<double>::infinity());
    (budget.*member).hard = limit.number_or("hard", std::numeric_limits<double>::infinity());
  }
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  return budget;
}

}  // namespace whet
