// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/unit.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <string>

namespace whet {
namespace {

struct Scaled {
  double factor = 1;
  std::string base;
};

struct Known {
  std::string_view written;
  double factor;
  std::string_view base;
};
constexpr std::array<Known, 10> kTimes{{{"ns", 1, "ns"}, {"us", 1e3, "ns"}, {"ms", 1e6, "ns"}, {"s", 1e9, "ns"},
                                        // as older versions write them
                                        {"nsecond", 1, "ns"}, {"usecond", 1e3, "ns"}, {"msecond", 1e6, "ns"}, {"second", 1e9, "ns"}, {"min", 6e10, "ns"}, {"minute", 6e10, "ns"}}};

double prefix_factor(char prefix) {
  switch (prefix) {
    case 'K':
    case 'k': return 1e3;
    case 'M': return 1e6;
    case 'G': return 1e9;
    case 'T': return 1e12;
    case 'P': return 1e15;
    default: return 0;
  }
}

Scaled scaled(std::string_view unit) {
  for (const Known& known : kTimes)
    if (unit == known.written) return {known.factor, std::string(known.base)};
  for (std::string_view base : {"byte", "hz", "Hz"}) {
    if (unit.size() == base.size() + 1 && unit.substr(1) == base && prefix_factor(unit[0]) > 0) return {prefix_factor(unit[0]), base == "Hz" ? "hz" : std::string(base)};
    if (unit == base) return {1, base == "Hz" ? "hz" : std::string(base)};
  }
  return {1, std::string(unit)};
}

Scaled base_unit(std::string_view unit) {
  const auto slash = unit.find('/');
  if (slash == std::string_view::npos) return scaled(unit);
  const Scaled above = scaled(unit.substr(0, slash));
  Scaled below = scaled(unit.substr(slash + 1));
  if (below.base == "ns") below = {below.factor / 1e9, "s"};  // rates are per second
  return {above.factor / below.factor, above.base + "/" + below.base};
}

}  // namespace

std::optional<Counter> normalised(std::string_view value, std::string_view unit) {
  if (const auto parts = value.find(" ("); parts != std::string_view::npos) value = value.substr(0, parts);
  std::string digits;
  for (char c : value)
    if (c != ',') digits += c;
  if (digits.empty() || digits.size() > 64 || digits.find_first_not_of("0123456789+-.eE") != std::string::npos) return std::nullopt;
  char* end = nullptr;
  const double number = std::strtod(digits.c_str(), &end);
  if (end != digits.c_str() + digits.size() || !std::isfinite(number)) return std::nullopt;
  Scaled in = base_unit(unit);
  return Counter{number * in.factor, std::move(in.base)};
}

}  // namespace whet
