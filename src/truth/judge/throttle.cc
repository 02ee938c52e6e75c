// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/throttle.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "stats/summary.h"

namespace whet {

std::string clocks_apart(const std::vector<double>& of_draw, const std::vector<double>& before) {
  std::vector<double> known;
  std::copy_if(of_draw.begin(), of_draw.end(), std::back_inserter(known), [](double mhz) { return mhz > 0; });
  if (known.empty()) return "";
  const auto [lowest, highest] = std::minmax_element(known.begin(), known.end());
  if (*lowest < (1 - kClocksApart) * *highest) return fmt::format("clocks of {:.0f} and {:.0f} MHz in one draw", *lowest, *highest);
  const double usual = before.size() >= kLeastClocks ? median(before) : 0;
  if (*lowest < (1 - kClocksBelow) * usual) return fmt::format("a clock of {:.0f} MHz, {:.0f} MHz in the calls before", *lowest, usual);
  return "";
}

}  // namespace whet
