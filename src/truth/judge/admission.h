// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// What the mutants say of one workload.
struct MutantFinding {
  std::string mutant;
  std::string group;      // for mutants of which one per family suffices
  bool caught = false;
  bool exempt = false;    // the reference itself is unchanged by it, to the bit
  double bound = 0;       // how far outside the tolerance its worst element is
  bool settles = false;   // that it was caught here says all that is to be known of it in the family
  bool left_out = false;  // settled by another workload of the family; nothing else of this finding holds
};
struct Admission {
  std::string workload, family;
  std::string problem;    // non-empty: it could not be examined, or the reference is not right on it
  bool machine_failed = false;  // ... and that is not the task's fault
  std::vector<MutantFinding> findings;
};

// The mutants that need not be tried on further workloads of the family: those that one workload settles, and scalars that changed nothing, to the bit,
// on kIdleScalar workloads (hints, like an upper bound of the lengths, change nothing anywhere).
constexpr int kIdleScalar = 2;
std::set<std::string> settled_mutants(const std::vector<Admission>& admissions, const std::string& family);
// Whether all that was left out in it is settled by these.
bool stands_with(const Admission& admission, const std::set<std::string>& settled);

// Families of which a mutant that need only be caught once per family has not been caught yet: more of their workloads may settle it.
std::set<std::string> families_in_doubt(const std::vector<Admission>& admissions);

// The rule: every mutant that is not exempt must be caught on every workload; a mutant with a group (an ignored input or scalar) may slip by
// on a workload if it is caught on another one of the same family. Returns {workload, reason} of those that are not admitted, and
// appends the exemptions to `remarks`.
std::vector<std::pair<std::string, std::string>> refused(const std::vector<Admission>& admissions, std::vector<std::string>& remarks);

Json to_json(const Admission& admission);
Expected<Admission> admission_from_json(const Json& json, const std::string& where);

}  // namespace whet
