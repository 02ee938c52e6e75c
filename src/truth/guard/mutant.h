// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/definition.h"
#include "record/workload.h"

namespace whet {

// Wrong answers that a workload must be able to tell from right ones. Two kinds: those made from right outputs, and those that are right for
// altered inputs (an input ignored, its tail ignored, a lower precision). The second kind costs a run of the reference each, the first kind none.
struct AlteredInput {
  std::string mutant;   // "ignores k", "ignores the tail of k along kv_len", "lower precision"
  std::vector<size_t> tensors;                 // the tensor inputs that are altered, by index among the tensors
  enum class How { redraw, zero_tail, round, change_scalar } how = How::redraw;
  size_t axis = 0;      // zero_tail: which dimension
  std::string scalar;   // change_scalar
  std::string group;    // "ignores k": one finding per input and family suffices for groups of scalars
  std::vector<std::pair<size_t, size_t>> places;  // zero_tail: where outputs have this axis too: output, dimension
};

// Tensors first, then scalars.
std::vector<AlteredInput> altered_inputs(const Definition& definition, const Workload& workload);

// A scalar that differs from this one: a flipped bool, a float times 1.25, an integer halved (0 becomes 1).
InputSource changed_scalar(const InputSource& source);

// "skips the tail along q_len": the last sixteenth of every output that has this axis is zero.
struct OutputTail {
  std::string mutant;
  std::vector<std::pair<size_t, size_t>> places;  // output, dimension
};
std::vector<OutputTail> output_tails(const Definition& definition, const Workload& workload);

}  // namespace whet
