// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/admission.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "base/json_impl.h"
#include "truth/guard/mutant.h"
#include "truth/measure/compare.h"

namespace whet {
namespace {

using Outputs = std::vector<std::vector<uint8_t>>;

// Runs the reference on whatever lies in set 0.
Verdict answer(Contestant& reference, Outputs& outputs) {
  double ns = 0;
  reference.watch_outputs(false);
  Verdict verdict = reference.prepare(0, Caches::as_they_are, ns);
  if (verdict.correct()) verdict = reference.run(0, Caches::as_they_are, ns);
  outputs.clear();
  for (Buffer& output : reference.outputs()) outputs.emplace_back(output.data(), output.data() + output.bytes());
  return verdict;
}

class Examination {
 public:
  Examination(const Definition& definition, const Workload& workload, Contestant& reference)
      : definition_(definition), workload_(workload), reference_(reference) {}

  Admission run() {
    admission_.workload = workload_.name;
    admission_.family = workload_.family;
    if (Verdict verdict = prepare(); !verdict.correct()) {
      note_problem(verdict, verdict.sentence);
      return std::move(admission_);
    }
    hold_wrong_outputs();
    for (const AlteredInput& altered : altered_inputs(definition_, workload_))
      if (Verdict verdict = hold(altered); !verdict.correct()) {
        note_problem(verdict, altered.mutant + ": " + verdict.sentence);
        break;  // a reference that is gone fails on all that follow
      }
    reference_.close();
    return std::move(admission_);
  }

 private:
  void note_problem(const Verdict& verdict, std::string sentence) {
    admission_.problem = std::move(sentence);
    admission_.machine_failed = verdict.code == Code::machine_failed;
  }

  Verdict prepare() {
    auto inputs = Inputs::make(definition_, workload_, kSecret, 1);
    if (!inputs) return {Code::reference_failed, inputs.error().what, ""};
    inputs_ = std::move(*inputs);
    Verdict verdict = reference_.open(definition_, workload_, inputs_, kSecret);
    // Two unrelated draws; the weights differ too, as they would between two plans.
    inputs_.write(inputs_.next(Inputs::kDrawsPerPlan));
    if (verdict.correct()) verdict = answer(reference_, unrelated_);
    inputs_.write(inputs_.next(0));
    if (verdict.correct()) verdict = answer(reference_, right_);
    return verdict;
  }

  int64_t count(size_t output) const { return element_count(shape_of(definition_, definition_.outputs[output], workload_.axes)); }

  // `wrong` in the Definition's dtype against the right answer, over all outputs.
  void note(const std::string& mutant, const std::string& group, const Outputs& wrong, bool exempt) {
    MutantFinding finding{mutant, group, false, exempt, 0};
    for (size_t i = 0; i < wrong.size(); ++i) {
      const Comparison found = compare(definition_.outputs[i].dtype, wrong[i].data(), right_[i].data(), count(i), workload_.tolerance, definition_.nan_policy);
      finding.caught |= !found.passes;
      finding.bound = std::max(finding.bound, found.worst_bound);
    }
    admission_.findings.push_back(finding);
  }

  Outputs in_storage(const Outputs& outputs) const {
    Outputs converted;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Dtype dtype = definition_.outputs[i].dtype;
      converted.emplace_back(static_cast<size_t>(count(i) * size_of(dtype)));
      convert_expected(dtype, outputs[i].data(), count(i), converted.back().data());
    }
    return converted;
  }

  void hold_wrong_outputs() {
    const Outputs right = in_storage(right_), unrelated = in_storage(unrelated_);
    std::map<std::string, Outputs> by_mutant;
    for (size_t i = 0; i < right.size(); ++i)
      for (auto& wrong : wrong_outputs(definition_.outputs[i].dtype, right[i], unrelated[i], count(i))) by_mutant[wrong.mutant].push_back(std::move(wrong.bytes));
    for (const auto& [mutant, outputs] : by_mutant) note(mutant, "", outputs, outputs == right);
    for (size_t input = 0; input < inputs_.tensors().size(); ++input) {
      Outputs outputs;
      for (size_t i = 0; i < right.size(); ++i) {
        auto bytes = passed_through(inputs_.tensors()[input]->dtype, inputs_.set(0)[input].data(), element_count(inputs_.shapes()[input]),
                                    definition_.outputs[i].dtype, count(i));
        outputs.push_back(bytes.empty() ? right[i] : std::move(bytes));
      }
      if (outputs != right) note("passes " + inputs_.tensors()[input]->name + " through", "", outputs, false);
    }
  }

  Verdict hold(const AlteredInput& altered) {
    Workload changed = workload_;
    std::vector<std::pair<size_t, std::vector<uint8_t>>> saved;
    for (size_t tensor : altered.tensors) {
      Buffer& buffer = inputs_.set(0)[tensor];
      saved.emplace_back(tensor, std::vector<uint8_t>(buffer.data(), buffer.data() + buffer.bytes()));
      const TensorSpec& spec = *inputs_.tensors()[tensor];
      if (altered.how == AlteredInput::How::redraw) inputs_.write_one(inputs_.next(Inputs::kDrawsPerPlan), tensor, 0);
      if (altered.how == AlteredInput::How::zero_tail) zero_tail(spec.dtype, buffer.data(), inputs_.shapes()[tensor], altered.axis);
      if (altered.how == AlteredInput::How::round) round_down(spec.dtype, buffer.data(), element_count(inputs_.shapes()[tensor]));
    }
    Verdict verdict{Code::correct, "", ""};
    Outputs outputs;
    if (altered.how == AlteredInput::How::change_scalar) {
      changed.inputs[altered.scalar] = changed_scalar(workload_.inputs.at(altered.scalar));
      verdict = answer_with(changed, outputs);
    } else {
      verdict = answer(reference_, outputs);
    }
    for (auto& [tensor, bytes] : saved) std::memcpy(inputs_.set(0)[tensor].data(), bytes.data(), bytes.size());
    if (verdict.correct()) note(altered.mutant, altered.group, in_storage(outputs), outputs == right_);
    return verdict;
  }

  // The same tensors, another scalar: the call is lent anew. The inputs' contents do not depend on scalars.
  Verdict answer_with(const Workload& changed, Outputs& outputs) {
    auto inputs = Inputs::make(definition_, changed, kSecret, 1);
    if (!inputs) return {Code::reference_failed, inputs.error().what, ""};
    inputs->write(inputs->next(0));
    Verdict verdict = reference_.open(definition_, changed, *inputs, kSecret);
    if (verdict.correct()) verdict = answer(reference_, outputs);
    const Verdict back = reference_.open(definition_, workload_, inputs_, kSecret);
    return verdict.correct() ? back : verdict;
  }

  static constexpr const char* kSecret = "admission";  // public: no candidate runs on these draws
  const Definition& definition_;
  const Workload& workload_;
  Contestant& reference_;
  Inputs inputs_;
  Outputs right_, unrelated_;
  Admission admission_;
};

}  // namespace

Admission examine(const Definition& definition, const Workload& workload, Contestant& reference) {
  return Examination(definition, workload, reference).run();
}

std::vector<std::pair<std::string, std::string>> refused(const std::vector<Admission>& admissions, std::vector<std::string>& remarks) {
  std::set<std::pair<std::string, std::string>> caught_in_family;
  for (const Admission& admission : admissions)
    for (const MutantFinding& finding : admission.findings)
      if (finding.caught) caught_in_family.emplace(admission.family, finding.group);
  std::vector<std::pair<std::string, std::string>> refusals;
  std::map<std::string, int> exemptions;
  for (const Admission& admission : admissions) {
    std::string reason = admission.problem;
    for (const MutantFinding& finding : admission.findings) {
      if (finding.caught) continue;
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
    findings.push_back({{"mutant", finding.mutant}, {"group", finding.group}, {"caught", finding.caught}, {"exempt", finding.exempt}, {"bound", json_double(finding.bound)}});
  return {{"workload", admission.workload}, {"family", admission.family}, {"problem", admission.problem}, {"findings", findings}};
}

Expected<Admission> admission_from_json(const Json& json, const std::string& where) {
  std::vector<std::string> complaints;
  JsonReader in(json, where, "", complaints);
  Admission admission{in.string("workload"), in.string("family"), in.string_or("problem", ""), {}};
  for (const Json& item : in.array("findings")) {
    JsonReader finding(item, where, "findings", complaints);
    admission.findings.push_back({finding.string("mutant"), finding.string_or("group", ""), finding.boolean_or("caught", false), finding.boolean_or("exempt", false),
                                  finding.find("bound") ? double_from_json(*finding.find("bound")) : 0});
  }
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  return admission;
}

}  // namespace whet
