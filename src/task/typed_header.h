// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "record/definition.h"

namespace whet {

// A C header (C99, C++11 and later) for authors of a Solution: `struct NAME_args` with a named field per tensor (shape in a comment), axis and
// scalar, and `NAME_read(const WhetCall*)` that fills it. It includes whet/candidate.h only. Names that C has taken get a trailing underscore.
std::string typed_header(const Definition& definition);

}  // namespace whet
