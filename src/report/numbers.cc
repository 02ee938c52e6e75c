// SPDX-License-Identifier: Apache-2.0
#include "report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace whet {
namespace {

// Three digits for what is below 1000.
std::string digits(double value) {
  if (value >= 99.95) return fmt::format("{:.0f}", value);
  if (value >= 9.995) return fmt::format("{:.1f}", value);
  return fmt::format("{:.2f}", value);
}

std::string factor_digits(double value) {
  if (!std::isfinite(value)) return "?";
  return value >= 9.995 || value >= 0.0995 || value <= 0 ? digits(value) : fmt::format("{:.2g}", value);
}

}  // namespace

TimeUnit unit_for(double smallest_ns) {
  if (!(smallest_ns >= 1e3)) return {"ns", 1};
  if (smallest_ns < 1e6) return {"us", 1e3};
  if (smallest_ns < 1e9) return {"ms", 1e6};
  return {"s", 1e9};
}

std::string time_text(double ns, const TimeUnit& unit) { return std::isfinite(ns) ? digits(ns / unit.ns) + " " + unit.name : "-"; }
std::string time_text(double ns) { return time_text(ns, unit_for(ns)); }

std::string factor_text(double factor) { return std::isfinite(factor) ? factor_digits(factor) + "x" : "-"; }

std::string interval_text(const Ratio& ratio) {
  if (!std::isfinite(ratio.value)) return "-";
  return fmt::format("{} [{}, {}]", factor_text(ratio.value), factor_digits(ratio.low), factor_digits(ratio.high));
}

std::string interval_text(const std::optional<Ratio>& ratio) { return ratio ? interval_text(*ratio) : "-"; }

std::string minute_text(const std::string& time) {
  if (time.size() < 16 || time[10] != 'T') return time;
  return time.substr(0, 10) + " " + time.substr(11, 5);
}

}  // namespace whet
