// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "record/scoreboard.h"

namespace whet {

// One unit for the times of a row, chosen by its smallest: ns, us, ms or s.
struct TimeUnit {
  std::string name;
  double ns;  // of one unit
};
TimeUnit unit_for(double smallest_ns);
// "1.23 ms", "45.6 us", "789 ns"; "-" when it is not a number.
std::string time_text(double ns, const TimeUnit& unit);
std::string time_text(double ns);

// "1.42x"; three digits.
std::string factor_text(double factor);
// "1.42x [1.40, 1.44]"; "-" when there is none.
std::string interval_text(const Ratio& ratio);
std::string interval_text(const std::optional<Ratio>& ratio);

// "2025-01-31 12:34" of an ISO 8601 time.
std::string minute_text(const std::string& time);

}  // namespace whet
