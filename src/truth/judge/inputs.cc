// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/inputs.h"

#include <algorithm>

#include "truth/judge/dlpack.h"

namespace whet {
namespace {

bool is_prepared(const TensorSpec& tensor) { return tensor.role == Role::weight || tensor.role == Role::plan; }

// A stretch that is hidden until the call begins: small enough to be put back within a few microseconds.
constexpr int64_t kHiddenPart = 64, kMostHidden = 4096;  // of an input; elements

}  // namespace

Expected<Inputs> Inputs::make(Memory& memory, const Definition& definition, const Workload& workload, std::string secret, int sets) {
  Inputs inputs;
  inputs.memory_ = &memory;
  inputs.definition_ = &definition;
  inputs.workload_ = &workload;
  inputs.secret_ = std::move(secret);
  for (const TensorSpec& tensor : definition.inputs) {
    if (tensor.is_scalar()) continue;
    WHET_TRY(auto generator, InputGenerator::make(definition, workload, tensor.name));
    inputs.generators_.push_back(std::move(generator));
    inputs.tensors_.push_back(&tensor);
    inputs.shapes_.push_back(shape_of(definition, tensor, workload.axes));
    inputs.has_plan_ |= is_prepared(tensor);
  }
  // One set lies against the end of its pages, where reading too far faults; the others at drawn offsets.
  for (int set = 0; set < sets; ++set) {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < inputs.tensors_.size(); ++i) {
      const auto bytes = static_cast<uint64_t>(inputs.generators_[i].count() * size_of(inputs.tensors_[i]->dtype));
      const DrawKey place = derive_key(inputs.secret_, workload.name, set, "place of " + inputs.tensors_[i]->name);
      WHET_TRY(auto buffer, memory.lend(bytes, Buffer::Access::read_only, set == 2 ? Buffer::Place::end : Buffer::Place::drawn, place.words[0]));
      buffers.push_back(std::move(buffer));
    }
    inputs.sets_.push_back(std::move(buffers));
  }
  for (size_t i = 0; i < inputs.tensors_.size(); ++i) {
    WHET_TRY(Block truth, memory.allocate(static_cast<uint64_t>(kMostHidden * size_of(inputs.tensors_[i]->dtype))));
    inputs.truths_.push_back(std::move(truth));
  }
  return inputs;
}

bool Inputs::can_vary(size_t input) const {
  return !is_prepared(*tensors_[input]) && generators_[input].separable() && generators_[input].count() > 0;
}

Draw Inputs::next(int number) const {
  Draw draw;
  draw.number = number;
  // One in every four, so that even the shortest judgement has some; never the first of four, whose weights are not its parent's, nor draw 1, whose
  // parent no Solution has seen.
  const DrawKey which = derive_key(secret_, workload_->name, number / kDrawsPerPlan, "which is a twin");
  const int place = number < kDrawsPerPlan ? 2 + static_cast<int>(which.words[0] % 2) : 1 + static_cast<int>(which.words[0] % 3);
  if (number % kDrawsPerPlan != place) return draw;
  std::vector<size_t> eligible;
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (can_vary(i)) eligible.push_back(i);
  if (eligible.empty()) return draw;
  // A fingerprint of n evenly spaced elements misses a stretch of 1/m with probability 1 - n/m: three of four stretches are short, and the two
  // of the shortest judgement among them. One is long, because a short one may be lost in the tolerance where an output hangs on thousands of
  // elements. Lengths come in turn, and inputs from a secret beginning: by dice, 20 of 1000 judgements had only twins that a fingerprint of 64
  // elements notices.
  constexpr int64_t kParts[] = {1024, 4096, 16, 2048};
  const DrawKey first = derive_key(secret_, workload_->name, 0, "first twin"), dice = derive_key(secret_, workload_->name, number, "twin");
  const auto turn = static_cast<uint32_t>(number / kDrawsPerPlan);
  const size_t input = eligible[(first.words[0] % eligible.size() + turn) % eligible.size()];
  const int64_t count = generators_[input].count();
  const int64_t length = std::max<int64_t>(1, count / kParts[turn % 4]);
  draw.parent = number - 1;
  draw.twin_input = tensors_[input]->name;
  draw.twin_begin = static_cast<int64_t>(dice.words[3] % static_cast<uint64_t>(count - length + 1));
  draw.twin_end = draw.twin_begin + length;
  return draw;
}

void Inputs::write_one(const Draw& draw, size_t input, int set) {
  const TensorSpec& tensor = *tensors_[input];
  const InputGenerator& generator = generators_[input];
  uint8_t* data = sets_[static_cast<size_t>(set)][input].data();
  const int source = is_prepared(tensor) ? epoch_of(draw.number) * kDrawsPerPlan : draw.number;
  if (draw.parent < 0 || is_prepared(tensor))
    return memory_->write(generator, derive_key(secret_, workload_->name, source, tensor.name), 0, generator.count(), data);
  // A twin's parent may itself be a twin: its contents are those of its parent, with its own stretch.
  write_one(next(draw.parent), input, set);
  if (tensor.name == draw.twin_input) memory_->write(generator, derive_key(secret_, workload_->name, draw.number, tensor.name), draw.twin_begin, draw.twin_end, data);
}

void Inputs::hide(const Draw& draw) {
  reveal();
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!can_vary(i)) continue;
    const int64_t count = generators_[i].count(), length = std::clamp<int64_t>(count / kHiddenPart, 1, kMostHidden);
    const DrawKey dice = derive_key(secret_, workload_->name, draw.number, "hidden part of " + tensors_[i]->name);
    const int64_t begin = static_cast<int64_t>(dice.words[0] % static_cast<uint64_t>(count - length + 1)), width = size_of(tensors_[i]->dtype);
    uint8_t* tensor = set(set_of(draw.number))[i].data();
    const Hidden hidden{tensor + begin * width, static_cast<uint64_t>(length * width), truths_[i].data()};
    memory_->copy(truths_[i].data(), hidden.data, hidden.bytes);
    memory_->write(generators_[i], dice, begin, begin + length, tensor);
    hidden_.push_back(hidden);
  }
}

std::vector<std::span<const uint8_t>> Inputs::reveal() {
  std::vector<std::span<const uint8_t>> touched;
  for (const Hidden& hidden : hidden_) {
    memory_->copy(hidden.data, hidden.truth, hidden.bytes);
    touched.emplace_back(hidden.data, hidden.bytes);
  }
  hidden_.clear();
  return touched;
}

void Inputs::write(const Draw& draw) {
  reveal();
  const int epoch = epoch_of(draw.number);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (!is_prepared(*tensors_[i])) {
      write_one(draw, i, set_of(draw.number));
    } else if (epoch != written_epoch_) {
      for (int set = 0; set < static_cast<int>(sets_.size()); ++set) write_one(draw, i, set);
    }
  }
  written_epoch_ = epoch;
}

Expected<std::vector<std::vector<Buffer>>> Inputs::more_sets(int count) const {
  std::vector<std::vector<Buffer>> sets;
  for (int set = 0; set < count; ++set) {
    std::vector<Buffer> buffers;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      WHET_TRY(auto buffer, memory_->lend(sets_.front()[i].bytes(), Buffer::Access::read_only, Buffer::Place::drawn, static_cast<uint64_t>(set) * 7 + i));
      buffers.push_back(std::move(buffer));
    }
    sets.push_back(std::move(buffers));
  }
  return sets;
}

void Inputs::write_more(std::vector<Buffer>& set, const std::string& name) {
  for (size_t i = 0; i < tensors_.size(); ++i) {
    if (is_prepared(*tensors_[i])) memory_->copy(set[i].data(), sets_.front()[i].data(), set[i].bytes());
    else memory_->write(generators_[i], derive_key(secret_, workload_->name, 0, name + " of " + tensors_[i]->name), 0, generators_[i].count(), set[i].data());
  }
}

Expected<Inputs> Inputs::copy_of(int set) const {
  Inputs copy;
  copy.memory_ = memory_;
  copy.definition_ = definition_;
  copy.workload_ = workload_;
  copy.secret_ = secret_;
  copy.tensors_ = tensors_;
  copy.generators_ = generators_;
  copy.shapes_ = shapes_;
  copy.has_plan_ = has_plan_;
  std::vector<Buffer> buffers;
  for (const Buffer& original : sets_[static_cast<size_t>(set)]) {
    WHET_TRY(auto buffer, memory_->lend(original.bytes(), Buffer::Access::writable, Buffer::Place::start, 0));
    memory_->copy(buffer.data(), original.data(), original.bytes());
    buffers.push_back(std::move(buffer));
  }
  copy.sets_.push_back(std::move(buffers));
  return copy;
}

bool Inputs::have_twins() const {
  for (size_t i = 0; i < tensors_.size(); ++i)
    if (can_vary(i)) return true;
  return false;
}

std::vector<std::vector<Buffer*>> Inputs::all() {
  std::vector<std::vector<Buffer*>> pointers;
  for (auto& set : sets_) {
    pointers.emplace_back();
    for (Buffer& buffer : set) pointers.back().push_back(&buffer);
  }
  return pointers;
}

uint64_t Inputs::bytes() const {
  uint64_t sum = 0;
  for (const Buffer& buffer : sets_.front()) sum += buffer.bytes();
  return sum;
}

runner::Layout Inputs::layout(bool for_reference, int num_threads, const std::vector<Buffer>& outputs) const {
  runner::Layout layout;
  layout.num_inputs = static_cast<int32_t>(tensors_.size());
  layout.num_outputs = static_cast<int32_t>(definition_->outputs.size());
  layout.num_sets = static_cast<int32_t>(sets_.size());
  layout.num_threads = num_threads;
  const auto axes = axis_values(*definition_, workload_->axes);
  layout.num_axes = static_cast<int32_t>(axes.size());
  std::copy(axes.begin(), axes.end(), layout.axes);
  for (const TensorSpec& tensor : definition_->inputs)
    if (tensor.is_scalar()) layout.scalars[layout.num_scalars++] = wire_scalar(tensor.dtype, workload_->inputs.at(tensor.name));
  for (size_t i = 0; i < tensors_.size(); ++i) {
    layout.tensors[i] = wire_tensor(tensors_[i]->dtype, shapes_[i], is_prepared(*tensors_[i]));
    for (size_t set = 0; set < sets_.size(); ++set) layout.placement[set][i] = sets_[set][i].placement();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TensorSpec& tensor = definition_->outputs[i];
    const Dtype dtype = for_reference ? reference_dtype(tensor.dtype) : tensor.dtype;
    layout.tensors[tensors_.size() + i] = wire_tensor(dtype, shape_of(*definition_, tensor, workload_->axes), false);
    layout.placement[0][tensors_.size() + i] = outputs[i].placement();
  }
  return layout;
}

}  // namespace whet
