// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "truth/judge/contestant.h"

namespace whet {

// What the mutants say of one workload.
struct MutantFinding {
  std::string mutant;
  std::string group;      // for mutants of which one per family suffices
  bool caught = false;
  bool exempt = false;    // the reference itself is unchanged by it, to the bit
  double bound = 0;       // how far outside the tolerance its worst element is
};
struct Admission {
  std::string workload, family;
  std::string problem;    // non-empty: it could not be examined
  bool machine_failed = false;  // ... and that is not the task's fault
  std::vector<MutantFinding> findings;
};

// Runs the reference on altered inputs and holds wrong outputs against the right one. No candidate takes part. Cost: about twenty runs of
// the reference.
Admission examine(Memory& memory, const Definition& definition, const Workload& workload, Contestant& reference);

// Families of which a mutant that need only be caught once per family has not been caught yet: more of their workloads may settle it.
std::set<std::string> families_in_doubt(const std::vector<Admission>& admissions);

// The rule: every mutant that is not exempt must be caught on every workload; a mutant with a group (an ignored input or scalar) may slip by
// on a workload if it is caught on another one of the same family. Returns {workload, reason} of those that are not admitted, and
// appends the exemptions to `remarks`.
std::vector<std::pair<std::string, std::string>> refused(const std::vector<Admission>& admissions, std::vector<std::string>& remarks);

Json to_json(const Admission& admission);
Expected<Admission> admission_from_json(const Json& json, const std::string& where);

}  // namespace whet
