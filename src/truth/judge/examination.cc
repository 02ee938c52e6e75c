// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/examination.h"

#include <algorithm>

#include "truth/guard/mutant.h"
#include "truth/measure/mutation_arithmetic.h"

namespace whet {
namespace {

constexpr const char* kSecret = "admission";  // public: no candidate runs on these draws

// Runs the reference on whatever lies in set 0; the answer is in its output buffers.
Verdict answer(Contestant& reference) {
  CallTime time;
  reference.watch_outputs(false);
  const Verdict verdict = reference.prepare(0, Caches::as_they_are, time);
  return verdict.correct() ? reference.run(0, Caches::as_they_are, time) : verdict;
}

class Examination {
 public:
  Examination(Memory& memory, const Definition& definition, const Workload& workload, Contestant& reference, const std::set<std::string>& settled)
      : memory_(memory), definition_(definition), workload_(workload), reference_(reference), settled_(settled) {}

  Admission run(ReferenceTwin& twin) {
    admission_.workload = workload_.name;
    admission_.family = workload_.family;
    Verdict verdict = prepare();
    if (verdict.correct()) verdict = hold_against(twin);
    if (verdict.correct()) hold_wrong_outputs();
    if (!verdict.correct()) note_problem(verdict, verdict.sentence);
    for (const AlteredInput& altered : altered_inputs(definition_, workload_)) {
      if (!verdict.correct()) break;  // a reference that is gone fails on all that follow
      if (settled_.count(altered.mutant)) {
        admission_.findings.push_back({altered.mutant, altered.group, false, false, 0, false, true});
        continue;
      }
      verdict = altered.how == AlteredInput::How::change_scalar ? hold_scalar(altered) : hold_tensors(altered);
      if (!verdict.correct()) note_problem(verdict, altered.mutant + ": " + verdict.sentence);
    }
    inputs_.take_scalars(workload_);
    reference_.close();
    return std::move(admission_);
  }

 private:
  void note_problem(const Verdict& verdict, std::string sentence) {
    admission_.problem = std::move(sentence);
    admission_.machine_failed = verdict.code == Code::machine_failed;
  }

  // The right answer, and one to an unrelated draw: the weights differ too, as they would between two plans.
  Verdict prepare() {
    auto inputs = Inputs::make(memory_, definition_, workload_, kSecret, 1);
    if (!inputs) return {Code::reference_failed, inputs.error().what, ""};
    inputs_ = std::move(*inputs);
    Verdict verdict = reference_.open(definition_, workload_, inputs_, kSecret);
    if (verdict.correct()) verdict = allocate();
    inputs_.write(inputs_.next(Inputs::kDrawsPerPlan));
    if (verdict.correct()) verdict = answer(reference_);
    if (verdict.correct()) store_answer(unrelated_);
    inputs_.write(inputs_.next(0));
    if (verdict.correct()) verdict = answer(reference_);
    if (!verdict.correct()) return verdict;
    store_answer(stored_);
    for (size_t i = 0; i < right_.size(); ++i) {
      memory_.copy(right_[i].data(), reference_.outputs()[i].data(), right_[i].bytes());
      magnitudes_.push_back(memory_.magnitude_of(dtype(i), right_[i].data(), count(i)));
    }
    return verdict;
  }

  Verdict allocate() {
    for (size_t i = 0; i < definition_.outputs.size(); ++i)
      for (std::vector<Block>* blocks : {&right_, &rest_, &stored_, &unrelated_, &wrong_}) {
        const bool widened = blocks == &right_ || blocks == &rest_;
        auto block = memory_.allocate(widened ? reference_.outputs()[i].bytes() : static_cast<uint64_t>(count(i) * size_of(dtype(i))));
        if (!block) return {Code::machine_failed, block.error().what, ""};
        blocks->push_back(std::move(*block));
      }
    return {Code::correct, "", ""};
  }

  Dtype dtype(size_t output) const { return definition_.outputs[output].dtype; }
  std::vector<int64_t> shape(size_t output) const { return shape_of(definition_, definition_.outputs[output], workload_.axes); }
  int64_t count(size_t output) const { return element_count(shape(output)); }

  // The reference's answer as a Solution would have written it.
  void store_answer(std::vector<Block>& blocks) {
    for (size_t i = 0; i < blocks.size(); ++i) memory_.convert_expected(dtype(i), reference_.outputs()[i].data(), count(i), blocks[i].data());
  }

  // The reference is right only as far as it agrees with itself at higher precision.
  Verdict hold_against(ReferenceTwin& twin) {
    if (!twin.contestant || twin.absent.count(definition_.name)) return {Code::correct, "", ""};
    Definition precise = definition_;
    precise.name += ".f64";
    Verdict verdict = twin.contestant->open(precise, workload_, inputs_, kSecret);
    if (verdict.code == Code::definition_missing) {
      twin.absent.insert(definition_.name);
      return {Code::correct, "", ""};
    }
    if (verdict.correct()) verdict = answer(*twin.contestant);
    if (!verdict.correct()) verdict.sentence = fmt::format("the reference's {}: {}", precise.name, verdict.sentence);
    for (size_t i = 0; verdict.correct() && i < right_.size(); ++i) verdict = disagreement(i, precise.name, twin.contestant->outputs()[i]);
    twin.contestant->close();
    return verdict;
  }

  Verdict disagreement(size_t output, const std::string& name, const Buffer& precise) {
    const Tolerance& whole = workload_.tolerance;
    const Tolerance part{kTwinPart * whole.rtol, kTwinPart * whole.atol, whole.norm < 0 ? -1 : kTwinPart * whole.norm};
    const Dtype wide = reference_dtype(dtype(output));
    const Comparison found = memory_.compare(wide, right_[output].data(), precise.data(), memory_.magnitude_of(wide, precise.data(), count(output)), count(output), part, definition_.nan_policy);
    if (found.passes) return {Code::correct, "", ""};
    std::string norm = whole.norm < 0 ? "" : fmt::format(", the norm of the difference at {:.3g} of what is allowed of it", found.norm / whole.norm);
    return {Code::reference_failed,
            fmt::format("the reference is not right here: {} differs from that of its entry {} in {} of {} elements; the worst is at {:.3g} of the tolerance{} (at most {:.3g} each)",
                        definition_.outputs[output].name, name, found.failing, count(output), found.worst_bound * kTwinPart, norm, kTwinPart),
            ""};
  }

  // What lies in `wrong_` against the right answer, over all outputs.
  MutantFinding found(const std::string& mutant, const std::string& group) {
    MutantFinding finding{mutant, group, false, false, 0, false, false};
    for (size_t i = 0; i < wrong_.size(); ++i) {
      const Comparison found = memory_.compare(dtype(i), wrong_[i].data(), right_[i].data(), magnitudes_[i], count(i), workload_.tolerance, definition_.nan_policy);
      finding.caught |= !found.passes;
      finding.bound = std::max(finding.bound, found.worst_bound);
    }
    return finding;
  }

  bool same(const std::vector<Block>& a, const std::vector<Block>& b) const {
    for (size_t i = 0; i < a.size(); ++i)
      if (memory_.equal_elements(dtype(i), a[i].data(), b[i].data(), count(i)) != count(i)) return false;
    return true;
  }

  template <class Make>  // (output, its block in wrong_)
  void hold_output(const std::string& mutant, const Make& make) {
    for (size_t i = 0; i < wrong_.size(); ++i) make(i, wrong_[i]);
    MutantFinding finding = found(mutant, "");
    finding.exempt = !finding.caught && same(wrong_, stored_);
    admission_.findings.push_back(std::move(finding));
  }

  void hold_wrong_outputs() {
    hold_output("zeros", [&](size_t, Block& wrong) { memory_.zero(wrong.data(), wrong.bytes()); });
    hold_output("mean", [&](size_t i, Block& wrong) { memory_.fill_with_mean(dtype(i), stored_[i].data(), count(i), wrong.data()); });
    hold_output("stale", [&](size_t i, Block& wrong) { memory_.copy(wrong.data(), unrelated_[i].data(), wrong.bytes()); });  // also what a no-op leaves behind
    hold_output("skips the tail", [&](size_t i, Block& wrong) {
      const auto right = static_cast<uint64_t>(std::max<int64_t>(0, count(i) - tail_of(count(i))) * size_of(dtype(i)));
      memory_.copy(wrong.data(), stored_[i].data(), right);
      memory_.copy(wrong.data() + right, unrelated_[i].data() + right, wrong.bytes() - right);
    });
    for (const OutputTail& tail : output_tails(definition_, workload_)) {
      hold_output(tail.mutant, [&](size_t i, Block& wrong) {
        memory_.copy(wrong.data(), stored_[i].data(), wrong.bytes());
        for (const auto& [output, dimension] : tail.places)
          if (output == i) memory_.zero_tail(dtype(i), wrong.data(), shape(i), dimension);
      });
    }
    for (size_t input = 0; input < inputs_.tensors().size(); ++input) hold_passed_through(input);
  }

  // An input's bytes, over and over. No finding where the dtypes differ, or where that is the right answer.
  void hold_passed_through(size_t input) {
    const TensorSpec& tensor = *inputs_.tensors()[input];
    const int64_t elements = element_count(inputs_.shapes()[input]);
    const auto fits = [&](size_t output) { return dtype(output) == tensor.dtype && elements > 0; };
    size_t fitting = 0;
    for (size_t i = 0; i < wrong_.size(); ++i) fitting += fits(i);
    if (fitting == 0) return;
    hold_output("passes " + tensor.name + " through", [&](size_t i, Block& wrong) {
      if (fits(i)) memory_.repeat(wrong.data(), wrong.bytes(), inputs_.set(0)[input].data(), static_cast<uint64_t>(std::min(count(i), elements) * size_of(tensor.dtype)));
      else memory_.copy(wrong.data(), stored_[i].data(), wrong.bytes());
    });
    if (admission_.findings.back().exempt) admission_.findings.pop_back();
  }

  Verdict hold_tensors(const AlteredInput& altered) {
    for (size_t tensor : altered.tensors) {
      const Dtype dtype = inputs_.tensors()[tensor]->dtype;
      const auto& shape = inputs_.shapes()[tensor];
      uint8_t* data = inputs_.set(0)[tensor].data();
      if (altered.how == AlteredInput::How::redraw) inputs_.write_one(inputs_.next(Inputs::kDrawsPerPlan), tensor, 0);
      if (altered.how == AlteredInput::How::zero_tail) memory_.zero_tail(dtype, data, shape, altered.axis);
      if (altered.how == AlteredInput::How::round) memory_.round_down(dtype, data, element_count(shape));
    }
    const Verdict verdict = answer(reference_);
    for (size_t tensor : altered.tensors) inputs_.write_one(inputs_.next(0), tensor, 0);
    if (verdict.correct()) note_answer(altered);
    return verdict;
  }

  // The same tensors, another scalar: the call is lent anew. These come last, so nothing is lent back.
  Verdict hold_scalar(const AlteredInput& altered) {
    Workload changed = workload_;
    changed.inputs[altered.scalar] = changed_scalar(workload_.inputs.at(altered.scalar));
    inputs_.take_scalars(changed);
    Verdict verdict = reference_.open(definition_, changed, inputs_, kSecret);
    if (verdict.correct()) verdict = answer(reference_);
    if (verdict.correct()) note_answer(altered);
    inputs_.take_scalars(workload_);
    return verdict;
  }

  void note_answer(const AlteredInput& altered) {
    store_answer(wrong_);
    MutantFinding finding = found(altered.mutant, altered.group);
    finding.exempt = !finding.caught && answer_is_right();
    const bool scalar = altered.how == AlteredInput::How::change_scalar;
    finding.settles = finding.caught ? !altered.group.empty() || is_local(altered) : finding.exempt && scalar;
    admission_.findings.push_back(std::move(finding));
  }

  bool answer_is_right() const {
    for (size_t i = 0; i < right_.size(); ++i)
      if (memory_.equal_elements(reference_dtype(dtype(i)), reference_.outputs()[i].data(), right_[i].data(), count(i)) != count(i)) return false;
    return true;
  }

  // Whether the tail of an input decides the tail of the outputs along the same axis, and nothing else of them. Then who ignores it is wrong there only, on
  // every workload, and whether such an answer is told from a right one is what the mutants that skip a tail of the outputs show. Overwrites the answer.
  bool is_local(const AlteredInput& altered) {
    if (altered.places.empty()) return false;
    for (size_t i = 0; i < right_.size(); ++i) memory_.copy(rest_[i].data(), right_[i].data(), right_[i].bytes());
    for (const auto& [output, dimension] : altered.places)
      for (uint8_t* data : {rest_[output].data(), reference_.outputs()[output].data()}) memory_.zero_tail(reference_dtype(dtype(output)), data, shape(output), dimension);
    for (size_t i = 0; i < right_.size(); ++i)
      if (memory_.equal_elements(reference_dtype(dtype(i)), reference_.outputs()[i].data(), rest_[i].data(), count(i)) != count(i)) return false;
    return true;
  }

  Memory& memory_;
  const Definition& definition_;
  const Workload& workload_;
  Contestant& reference_;
  const std::set<std::string>& settled_;
  Inputs inputs_;
  std::vector<Block> right_, rest_;              // in reference_dtype; rest_ is for is_local()
  std::vector<Magnitude> magnitudes_;            // of right_
  std::vector<Block> stored_, unrelated_, wrong_;  // in the Definition's dtypes: the right answer, that to another draw, what is held against it
  Admission admission_;
};

}  // namespace

Admission examine(Memory& memory, const Definition& definition, const Workload& workload, Contestant& reference, ReferenceTwin& twin, const std::set<std::string>& settled) {
  return Examination(memory, definition, workload, reference, settled).run(twin);
}

}  // namespace whet
