// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace whet {

// "_Z5scalePfi" -> "scale(float*, int)"; what is no C++ symbol of at most 4096 characters stays as it is.
std::string demangled(const std::string& symbol);

}  // namespace whet
