// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "record/dtype.h"
#include "record/workload.h"
#include "truth/runner/protocol.h"

namespace whet {

// The record's types as the ABI states them (include/whet/candidate.h). Shapes have at most 8 dimensions (checked when a Definition is read).
runner::WireTensor wire_tensor(Dtype dtype, const std::vector<int64_t>& shape, bool prepared);
runner::WireScalar wire_scalar(Dtype dtype, const InputSource& source);

}  // namespace whet
