// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace whet {

// RFC 4648, section 4: with padding, without line breaks. Pieces of blob.put are concatenated after decoding.
std::string to_base64(std::string_view bytes);
Expected<std::string> from_base64(std::string_view text);

}  // namespace whet
