// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/admission.h"

#include <algorithm>
#include <map>

#include "base/json_impl.h"

namespace whet {
namespace {

std::set<std::pair<std::string, std::string>> groups_caught(const std::vector<Admission>& admissions) {
  std::set<std::pair<std::string, std::string>> caught;
  for (const Admission& admission : admissions)
    for (const MutantFinding& finding : admission.findings)
      if (finding.caught) caught.emplace(admission.family, finding.group);
  return caught;
}

}  // namespace

std::set<std::string> settled_mutants(const std::vector<Admission>& admissions, const std::string& family) {
  std::set<std::string> settled;
  std::map<std::string, int> idle;
  for (const Admission& admission : admissions)
    for (const MutantFinding& finding : admission.findings) {
      if (admission.family != family || !finding.settles) continue;
      if (finding.caught || ++idle[finding.mutant] >= kIdleScalar) settled.insert(finding.mutant);
    }
  return settled;
}

bool stands_with(const Admission& admission, const std::set<std::string>& settled) {
  return std::all_of(admission.findings.begin(), admission.findings.end(), [&](const MutantFinding& finding) { return !finding.left_out || settled.count(finding.mutant); });
}

std::set<std::string> families_in_doubt(const std::vector<Admission>& admissions) {
  const auto caught = groups_caught(admissions);
  std::set<std::string> families;
  for (const Admission& admission : admissions)
    for (const MutantFinding& finding : admission.findings)
      if (!finding.left_out && !finding.caught && !finding.exempt && !finding.group.empty() && !caught.count({admission.family, finding.group})) families.insert(admission.family);
  return families;
}

std::vector<std::pair<std::string, std::string>> refused(const std::vector<Admission>& admissions, std::vector<std::string>& remarks) {
  const auto caught_in_family = groups_caught(admissions);
  std::vector<std::pair<std::string, std::string>> refusals;
  std::map<std::string, int> exemptions;
  for (const Admission& admission : admissions) {
    std::string reason = admission.problem;
    for (const MutantFinding& finding : admission.findings) {
      if (finding.caught || finding.left_out) continue;
      if (finding.exempt) {
        ++exemptions[finding.mutant];
        continue;
      }
      if (!finding.group.empty() && caught_in_family.count({admission.family, finding.group})) continue;
      reason += (reason.empty() ? "" : "; ") + fmt::format("an answer that {} passes (its worst element is at {:.2g} of the tolerance)", finding.mutant, finding.bound);
    }
    if (!reason.empty()) refusals.emplace_back(admission.workload, reason);
  }
  for (const auto& [mutant, workloads] : exemptions)
    remarks.push_back(fmt::format("admission: '{}' changes nothing on {} workload{}, so it proves nothing there", mutant, workloads, workloads == 1 ? "" : "s"));
  return refusals;
}

Json to_json(const Admission& admission) {
  Json findings = Json::array();
  for (const MutantFinding& finding : admission.findings)
    findings.push_back({{"mutant", finding.mutant}, {"group", finding.group}, {"caught", finding.caught}, {"exempt", finding.exempt}, {"bound", json_double(finding.bound)},
                        {"settles", finding.settles}, {"left_out", finding.left_out}});
  return {{"workload", admission.workload}, {"family", admission.family}, {"problem", admission.problem}, {"findings", findings}};
}

Expected<Admission> admission_from_json(const Json& json, const std::string& where) {
  std::vector<std::string> complaints;
  JsonReader in(json, where, "", complaints);
  Admission admission{in.string("workload"), in.string("family"), in.string_or("problem", ""), false, {}};
  for (const Json& item : in.array("findings")) {
    JsonReader finding(item, where, "findings", complaints);
    admission.findings.push_back({finding.string("mutant"), finding.string_or("group", ""), finding.boolean_or("caught", false), finding.boolean_or("exempt", false),
                                  finding.find("bound") ? double_from_json(*finding.find("bound")) : 0, finding.boolean_or("settles", false),
                                  finding.boolean_or("left_out", false)});
  }
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  return admission;
}

}  // namespace whet
