// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/admission.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/json_impl.h"
#include "truth/guard/mutant.h"

namespace whet {
namespace {

using Outputs = std::vector<std::vector<uint8_t>>;  // on the host, in the Definition's dtypes

// Runs the reference on whatever lies in set 0; the answer is in its output buffers.
Verdict answer(Contestant& reference) {
  CallTime time;
  reference.watch_outputs(false);
  const Verdict verdict = reference.prepare(0, Caches::as_they_are, time);
  return verdict.correct() ? reference.run(0, Caches::as_they_are, time) : verdict;
}

class Examination {
 public:
  Examination(Memory& memory, const Definition& definition, const Workload& workload, Contestant& reference)
      : memory_(memory), definition_(definition), workload_(workload), reference_(reference) {}

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
    auto inputs = Inputs::make(memory_, definition_, workload_, kSecret, 1);
    if (!inputs) return {Code::reference_failed, inputs.error().what, ""};
    inputs_ = std::move(*inputs);
    Verdict verdict = reference_.open(definition_, workload_, inputs_, kSecret);
    for (size_t i = 0; verdict.correct() && i < definition_.outputs.size(); ++i) {
      auto right = memory_.allocate(reference_.outputs()[i].bytes()), wrong = memory_.allocate(static_cast<uint64_t>(count(i) * size_of(definition_.outputs[i].dtype)));
      if (!right || !wrong) return {Code::machine_failed, (right ? wrong : right).error().what, ""};
      right_.push_back(std::move(*right));
      wrong_.push_back(std::move(*wrong));
    }
    // Two unrelated draws; the weights differ too, as they would between two plans.
    inputs_.write(inputs_.next(Inputs::kDrawsPerPlan));
    if (verdict.correct()) verdict = answer(reference_);
    if (verdict.correct()) unrelated_ = in_storage();
    inputs_.write(inputs_.next(0));
    if (verdict.correct()) verdict = answer(reference_);
    for (size_t i = 0; verdict.correct() && i < right_.size(); ++i) {
      memory_.copy(right_[i].data(), reference_.outputs()[i].data(), right_[i].bytes());
      squares_.push_back(memory_.squares_of(definition_.outputs[i].dtype, right_[i].data(), count(i)));
    }
    return verdict;
  }

  int64_t count(size_t output) const { return element_count(shape_of(definition_, definition_.outputs[output], workload_.axes)); }

  // What lies in `wrong_` against the right answer, over all outputs.
  void note(const std::string& mutant, const std::string& group, bool exempt) {
    MutantFinding finding{mutant, group, false, exempt, 0};
    for (size_t i = 0; i < wrong_.size(); ++i) {
      const Comparison found =
          memory_.compare(definition_.outputs[i].dtype, wrong_[i].data(), right_[i].data(), squares_[i], count(i), workload_.tolerance, definition_.nan_policy);
      finding.caught |= !found.passes;
      finding.bound = std::max(finding.bound, found.worst_bound);
    }
    admission_.findings.push_back(finding);
  }

  void note(const std::string& mutant, const Outputs& wrong, bool exempt) {
    for (size_t i = 0; i < wrong.size(); ++i) memory_.from_host(wrong_[i].data(), wrong[i].data(), wrong[i].size());
    note(mutant, "", exempt);
  }

  // The reference's answer as a Solution would have written it: in `wrong_`, and from there to the host.
  void convert_answer() {
    for (size_t i = 0; i < wrong_.size(); ++i) memory_.convert_expected(definition_.outputs[i].dtype, reference_.outputs()[i].data(), count(i), wrong_[i].data());
  }
  Outputs in_storage() {
    convert_answer();
    Outputs outputs;
    for (const Block& block : wrong_) outputs.push_back(memory_.to_host(block.data(), block.bytes()));
    return outputs;
  }
  bool answer_is_right() const {
    for (size_t i = 0; i < right_.size(); ++i)
      if (memory_.equal_elements(reference_dtype(definition_.outputs[i].dtype), reference_.outputs()[i].data(), right_[i].data(), count(i)) != count(i)) return false;
    return true;
  }

  void hold_wrong_outputs() {
    const Outputs right = in_storage();
    std::map<std::string, Outputs> by_mutant;
    for (size_t i = 0; i < right.size(); ++i)
      for (auto& wrong : wrong_outputs(definition_.outputs[i].dtype, right[i], unrelated_[i], count(i))) by_mutant[wrong.mutant].push_back(std::move(wrong.bytes));
    for (const auto& [mutant, outputs] : by_mutant) note(mutant, outputs, outputs == right);
    for (size_t input = 0; input < inputs_.tensors().size(); ++input) {
      Outputs outputs;
      const Dtype dtype = inputs_.tensors()[input]->dtype;
      for (size_t i = 0; i < right.size(); ++i) {
        // No more of it than an output holds.
        const int64_t part = std::min(count(i), element_count(inputs_.shapes()[input]));
        const auto some = memory_.to_host(inputs_.set(0)[input].data(), static_cast<uint64_t>(part * size_of(dtype)));
        auto bytes = passed_through(dtype, some.data(), part, definition_.outputs[i].dtype, count(i));
        outputs.push_back(bytes.empty() ? right[i] : std::move(bytes));
      }
      if (outputs != right) note("passes " + inputs_.tensors()[input]->name + " through", outputs, false);
    }
  }

  Verdict hold(const AlteredInput& altered) {
    Workload changed = workload_;
    std::vector<std::pair<size_t, Block>> saved;
    for (size_t tensor : altered.tensors) {
      Buffer& buffer = inputs_.set(0)[tensor];
      auto copy = memory_.allocate(buffer.bytes());
      if (!copy) return {Code::machine_failed, copy.error().what, ""};
      memory_.copy(copy->data(), buffer.data(), buffer.bytes());
      saved.emplace_back(tensor, std::move(*copy));
      const TensorSpec& spec = *inputs_.tensors()[tensor];
      if (altered.how == AlteredInput::How::redraw) inputs_.write_one(inputs_.next(Inputs::kDrawsPerPlan), tensor, 0);
      if (altered.how == AlteredInput::How::zero_tail) memory_.zero_tail(spec.dtype, buffer.data(), inputs_.shapes()[tensor], altered.axis);
      if (altered.how == AlteredInput::How::round) memory_.round_down(spec.dtype, buffer.data(), element_count(inputs_.shapes()[tensor]));
    }
    if (altered.how == AlteredInput::How::change_scalar) {
      changed.inputs[altered.scalar] = changed_scalar(workload_.inputs.at(altered.scalar));
      return hold_with(changed, altered);
    }
    const Verdict verdict = answer(reference_);
    for (auto& [tensor, bytes] : saved) memory_.copy(inputs_.set(0)[tensor].data(), bytes.data(), bytes.bytes());
    if (verdict.correct()) note_answer(altered);
    return verdict;
  }

  void note_answer(const AlteredInput& altered) {
    const bool exempt = answer_is_right();
    convert_answer();
    note(altered.mutant, altered.group, exempt);
  }

  // The same tensors, another scalar: the call is lent anew. The inputs' contents do not depend on scalars.
  Verdict hold_with(const Workload& changed, const AlteredInput& altered) {
    auto inputs = Inputs::make(memory_, definition_, changed, kSecret, 1);
    if (!inputs) return {Code::reference_failed, inputs.error().what, ""};
    inputs->write(inputs->next(0));
    Verdict verdict = reference_.open(definition_, changed, *inputs, kSecret);
    if (verdict.correct()) verdict = answer(reference_);
    if (verdict.correct()) note_answer(altered);
    const Verdict back = reference_.open(definition_, workload_, inputs_, kSecret);
    return verdict.correct() ? back : verdict;
  }

  static constexpr const char* kSecret = "admission";  // public: no candidate runs on these draws
  Memory& memory_;
  const Definition& definition_;
  const Workload& workload_;
  Contestant& reference_;
  Inputs inputs_;
  std::vector<Block> right_;     // in reference_dtype
  std::vector<double> squares_;  // of right_
  std::vector<Block> wrong_;     // what is held against it, in the Definition's dtypes
  Outputs unrelated_;
  Admission admission_;
};

}  // namespace

Admission examine(Memory& memory, const Definition& definition, const Workload& workload, Contestant& reference) {
  return Examination(memory, definition, workload, reference).run();
}

namespace {

std::set<std::pair<std::string, std::string>> groups_caught(const std::vector<Admission>& admissions) {
  std::set<std::pair<std::string, std::string>> caught;
  for (const Admission& admission : admissions)
    for (const MutantFinding& finding : admission.findings)
      if (finding.caught) caught.emplace(admission.family, finding.group);
  return caught;
}

}  // namespace

std::set<std::string> families_in_doubt(const std::vector<Admission>& admissions) {
  const auto caught = groups_caught(admissions);
  std::set<std::string> families;
  for (const Admission& admission : admissions)
    for (const MutantFinding& finding : admission.findings)
      if (!finding.caught && !finding.exempt && !finding.group.empty() && !caught.count({admission.family, finding.group})) families.insert(admission.family);
  return families;
}

std::vector<std::pair<std::string, std::string>> refused(const std::vector<Admission>& admissions, std::vector<std::string>& remarks) {
  const auto caught_in_family = groups_caught(admissions);
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
