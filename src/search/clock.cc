// SPDX-License-Identifier: Apache-2.0
#include "search/clock.h"

#include <chrono>
#include <ctime>

namespace whet {

double steady_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm broken{};
  gmtime_r(&now, &broken);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &broken);
  return text;
}

}  // namespace whet
