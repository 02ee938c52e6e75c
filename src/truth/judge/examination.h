// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "truth/judge/admission.h"
#include "truth/judge/contestant.h"

namespace whet {

// The reference's entry NAME.f64 of a Definition NAME: the same at higher precision. Most references have none.
struct ReferenceTwin {
  std::unique_ptr<Contestant> contestant;
  std::set<std::string> absent;  // Definitions without one
};

// The reference may be off from its twin by this part of the tolerance. What an honest Solution is allowed then still is nine tenths of what it says.
constexpr double kTwinPart = 0.1;

// Runs the reference on altered inputs and holds wrong outputs against the right one; then the right one against the twin's. No candidate takes part.
// Mutants named in `settled` are left out. Cost in runs of the reference: 2, one for each float tensor's tail along a reduced axis, 1 for the lower
// precision; on the first workloads of a family one more for every input, every scalar and every other tail; and one of the twin.
Admission examine(Memory& memory, const Definition& definition, const Workload& workload, Contestant& reference, ReferenceTwin& twin, const std::set<std::string>& settled);

}  // namespace whet
