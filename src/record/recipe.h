// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "record/workload.h"

namespace whet {

// Reads whet.recipes.NAME, {"kind": "normal", "scale": 2}: complains about an unknown kind, about keys that the kind does not have, and about
// values that are none of the kind's whatever the input.
Recipe recipe_from_json(const Json& json, const std::string& file, const std::string& path,
                        std::vector<std::string>& complaints);
Json to_json(const Recipe& recipe);

// Why this recipe cannot draw that input of the workload, or "". The workload's axes and the recipes of its other inputs have been read.
std::string recipe_misfit(const Recipe& recipe, const TensorSpec& input, const Definition& definition,
                          const Workload& workload);

}  // namespace whet
