// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <cstring>

namespace whet {

std::unexpected<Error> system_error(const std::string& action, int error_number, Blame blame) {
  return std::unexpected(Error{fmt::format("{}: {}", action, std::strerror(error_number)), blame});
}

}  // namespace whet
