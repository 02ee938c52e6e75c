// SPDX-License-Identifier: Apache-2.0
#include "search/store.h"

#include <array>
#include <utility>

namespace whet {
namespace {

constexpr std::array<std::pair<Purpose, std::string_view>, 8> kPurposes = {{{Purpose::evaluate, "evaluate"},
                                                                             {Purpose::baseline, "baseline"},
                                                                             {Purpose::trial, "trial"},
                                                                             {Purpose::challenge, "challenge"},
                                                                             {Purpose::confirm, "confirm"},
                                                                             {Purpose::final, "final"},
                                                                             {Purpose::compare, "compare"},
                                                                             {Purpose::recheck, "recheck"}}};

}  // namespace

std::string_view name_of(Purpose purpose) { return kPurposes[static_cast<std::size_t>(purpose)].second; }

std::optional<Purpose> purpose_from_name(std::string_view name) {
  for (const auto& [purpose, its_name] : kPurposes)
    if (its_name == name) return purpose;
  return std::nullopt;
}

}  // namespace whet
