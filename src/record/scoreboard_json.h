// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "record/exact_reader.h"
#include "record/scoreboard.h"

namespace whet {

// A Scoreboard inside another record; complaints go to the reader.
Scoreboard read_scoreboard(ExactReader& in);

}  // namespace whet
