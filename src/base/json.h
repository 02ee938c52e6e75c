// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace whet {

// Keys keep their order: the order of a Definition's inputs is the order of a call. Include "base/json_impl.h" (in .cc files only) to use it.
using Json = nlohmann::ordered_json;

}  // namespace whet
