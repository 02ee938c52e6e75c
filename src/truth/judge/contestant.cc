// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/contestant.h"

#include <algorithm>
#include <thread>

#include "truth/gpu/driver.h"
#include "whet/candidate.h"

namespace whet {
namespace {

const Verdict kFine{Code::correct, "", ""};
constexpr uint64_t kMostWorkspace = uint64_t{2} << 30;
constexpr std::chrono::seconds kCompileLimit{180};  // of prepare() in Python, where kernels are compiled and chosen

// What the C ABI does not tell: where the scalars stand among the tensors.
std::string signature_of(const Definition& definition) {
  std::string lines;
  for (const TensorSpec& input : definition.inputs) lines += fmt::format("in {} {}\n", input.name, input.is_scalar() ? "scalar" : "tensor");
  for (const TensorSpec& output : definition.outputs) lines += fmt::format("out {} tensor\n", output.name);
  return lines;
}

}  // namespace

Verdict Contestant::open(const Definition& definition, const Workload& workload, Inputs& inputs, const std::string& secret) {
  close();
  if (const auto known = refused_.find(definition.name); known != refused_.end()) return known->second;
  if (!runs(definition.name)) return {Code::definition_missing, fmt::format("its solution.json names no definition {}", definition.name), ""};
  // An interpreter takes seconds to start, and what it imported serves every Definition.
  if (runner_ && (runner_->dead() || (loaded_ != definition.name && !options_.python))) runner_.reset();
  if (!runner_ || loaded_ != definition.name) {
    loaded_.clear();
    if (Verdict verdict = start(definition); !verdict.correct()) return verdict;
  }
  inputs_ = &inputs;
  definition_ = &definition;
  workload_ = &workload;
  secret_ = secret;
  synchronises_ = false;
  runs_ = 0;
  burst_outputs_.clear();
  outputs_.clear();
  output_names_.clear();
  workspace_.reset();
  for (const TensorSpec& tensor : definition.outputs) {
    const Dtype dtype = is_reference_ ? reference_dtype(tensor.dtype) : tensor.dtype;
    const auto bytes = static_cast<uint64_t>(element_count(shape_of(definition, tensor, workload.axes)) * size_of(dtype));
    const DrawKey place = derive_key(secret, workload.name, 0, name_ + tensor.name);
    auto buffer = inputs.memory().lend(bytes, Buffer::Access::writable, Buffer::Place::drawn, place.words[0]);
    if (!buffer) return {Code::machine_failed, buffer.error().what, ""};
    outputs_.push_back(std::move(*buffer));
    output_names_.push_back(tensor.name);
  }
  std::vector<Buffer*> output_pointers;
  for (Buffer& buffer : outputs_) output_pointers.push_back(&buffer);
  auto layout = inputs.layout(is_reference_, static_cast<int>(options_.cores.size()), outputs_);
  if (on_gpu()) layout.device = WHET_DEVICE_CUDA;
  layout.inputs_writable = inputs_writable_;
  if (Verdict verdict = runner_->lend(layout, inputs.all(), output_pointers); !verdict.correct()) return verdict;
  uint64_t bytes = 0;
  if (Verdict verdict = runner_->workspace_bytes(bytes); !verdict.correct()) return verdict;
  if (bytes > kMostWorkspace)
    return {Code::memory_exceeded, fmt::format("it asks for a workspace of {} bytes; at most {} are lent", bytes, kMostWorkspace), ""};
  if (bytes > 0) {
    auto buffer = inputs.memory().lend(bytes, Buffer::Access::writable, Buffer::Place::start, 0);
    if (!buffer) return {Code::machine_failed, buffer.error().what, ""};
    workspace_ = std::move(*buffer);
    if (Verdict verdict = runner_->lend_workspace(*workspace_); !verdict.correct()) return verdict;
  }
  return kFine;
}

// What could not be loaded will not be at the next workload either, and each try may take long.
Verdict Contestant::start(const Definition& definition) {
  if (!runner_) {
    auto started = Runner::start(options_);
    if (!started) return {Code::machine_failed, name_ + ": " + started.error().what, ""};
    runner_ = std::move(*started);
    walls_ = runner_->walls();
  }
  if (Verdict verdict = runner_->load(definition.name, options_.python ? signature_of(definition) : ""); !verdict.correct()) {
    runner_.reset();
    if (static_cast<int>(verdict.code) < 500) refused_.emplace(definition.name, verdict);
    return verdict;
  }
  loaded_ = definition.name;
  notes_ = runner_->notes();
  return kFine;
}

bool Contestant::runs(const std::string& definition) const { return definitions_.empty() || std::ranges::find(definitions_, definition) != definitions_.end(); }

void Contestant::close() {
  if (alive() && inputs_) (void)runner_->release();
  if (alive() && inputs_) notes_ = runner_->notes();
  burst_outputs_.clear();
  inputs_ = nullptr;
}

uint64_t Contestant::digest_of_outputs() const {
  uint64_t sum = 0;
  for (const Buffer& buffer : outputs_) sum = sum * 31 + inputs_->memory().digest(buffer.data(), buffer.bytes());
  return sum;
}

uint64_t Contestant::sample_of_outputs(uint64_t salt) const { return inputs_->memory().sample(outputs_, salt); }

void Contestant::set_caches(int set, Caches caches) {
  if (caches == Caches::as_they_are) return;
  std::vector<const Buffer*> buffers;
  for (const Buffer& input : inputs_->set(set)) buffers.push_back(&input);
  for (const Buffer& output : outputs_) buffers.push_back(&output);
  Memory& memory = inputs_->memory();
  if (caches == Caches::resident) {
    for (const Buffer* buffer : buffers) memory.touch(buffer->data(), buffer->bytes());
    return;
  }
  if (workspace_) buffers.push_back(&*workspace_);
  for (const Buffer* buffer : buffers) memory.flush(buffer->data(), buffer->bytes());
}

uint64_t Contestant::fresh_salt() {
  const DrawKey key = derive_key(secret_, name_, ++salts_, "a sample that nobody knows");
  return uint64_t{key.words[0]} << 32 | key.words[1];
}

Verdict Contestant::turn(runner::Op op, int set, Caches caches, const runner::Kind& kind, CallTime& time, const std::function<void()>& while_held) {
  // Before the thaw: when the process stands ready its threads have the cores, and a worker that keeps one of them busy would decide where the
  // scheduler puts them, differently for each process.
  set_caches(set, caches);
  const auto ready = [&] {
    // Last, so that no time is left between this and the call.
    if (op == runner::Op::run)
      for (const auto& stretch : inputs_->reveal())
        if (caches == Caches::flushed) inputs_->memory().flush(stretch.data(), stretch.size());
  };
  Turn result;
  const std::chrono::milliseconds limit = op == runner::Op::prepare && options_.python ? std::max<std::chrono::milliseconds>(limit_, kCompileLimit) : limit_;
  Verdict verdict = runner_->turn(op, static_cast<uint32_t>(set), limit, ready, result, kind, while_held);
  time = {result.ns, result.ns, result.host_ns, result.end_to_end_ns, result.clock_mhz, result.returned};
  if (!verdict.correct()) return explain_device_error(verdict, set);
  if (kind.mode == runner::Mode::burst) return kFine;  // whoever measures it looks at all of its outputs
  const bool watched = op == runner::Op::run && watch_outputs_;
  if (on_gpu() && op == runner::Op::run) {
    if (!result.not_captured.empty()) return time.ns = -1, kFine;
    // Whoever waits in its first call, to choose or to load, does not do so for ever.
    synchronises_ |= result.blocked && runs_ > 0;
    ++runs_;
    if (result.blocked) time.ns = -1;
    else time.ns = kind.mode == runner::Mode::end_to_end ? result.end_to_end_ns : result.device_ns;
    if (result.persisting_bytes > 0)
      return {Code::device_changed, fmt::format("run: it set {} bytes of the last cache aside for itself, where its inputs of the next call would already be", result.persisting_bytes), ""};
  }
  if (watched && sample_of_outputs(result.salt) != result.sample)
    return {Code::late, on_gpu() ? "an output changed after the call had returned: work of it was not ordered on its stream"
                                 : "an output changed after the call had returned: a thread of it was still writing", ""};
  if (watched && !options_.freezes) {
    kept_salt_ = fresh_salt();
    kept_sample_ = sample_of_outputs(kept_salt_);
  }
  return check_red_zones(op == runner::Op::prepare ? "prepare" : "run");
}

// A fault of the device ends the process and says no more than that an address was not its own.
Verdict Contestant::explain_device_error(const Verdict& verdict, int set) {
  if (!runner_->dead() || runner_->device_error() != cuda::kErrorIllegalAddress) return verdict;
  const std::string input = input_it_writes(set);
  if (!input.empty()) return {Code::input_written, fmt::format("{}: it writes to {}, an input that is lent read-only", verdict.sentence, input), verdict.evidence};
  return {Code::out_of_bounds, verdict.sentence + ": it read or wrote what was not lent to it", verdict.evidence};
}

// Which input it writes to: found by one more run, of a fresh process on copies that it may write to. Empty: none, or it does not do so again. Only chooses the
// words of a Verdict that stands already.
std::string Contestant::input_it_writes(int set) {
  if (inputs_writable_ || !inputs_ || set < 0 || set >= runner::kMaxSets) return "";
  auto copies = inputs_->copy_of(set);
  if (!copies) return "";
  Contestant again(name_, options_, is_reference_);
  again.lend_inputs_writable();
  again.watch_outputs(false);
  again.set_call_limit(limit_);
  const auto digests = [&] {
    std::vector<uint64_t> all;
    for (const Buffer& input : copies->set(0)) all.push_back(copies->memory().digest(input.data(), input.bytes()));
    return all;
  };
  CallTime time;
  if (!again.open(*definition_, *workload_, *copies, secret_).correct()) return "";
  const auto before = digests();
  if (again.prepare(0, Caches::as_they_are, time).correct()) (void)again.run(0, Caches::as_they_are, time, runner::Mode::end_to_end);
  const auto after = digests();
  for (size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i]) return copies->tensors()[i]->name;
  return "";
}

Verdict Contestant::check_red_zones(const std::string& during) {
  const auto complaint = [&](const std::string& buffer, int64_t distance) -> Verdict {
    return {Code::out_of_bounds, fmt::format("{}: memory {} bytes outside {} was overwritten", during, distance, buffer), ""};
  };
  for (size_t i = 0; i < outputs_.size(); ++i)
    if (int64_t distance = inputs_->memory().damage(outputs_[i]); distance >= 0) return complaint("the output " + output_names_[i], distance);
  if (workspace_)
    if (int64_t distance = inputs_->memory().damage(*workspace_); distance >= 0) return complaint("the workspace", distance);
  return kFine;
}

Verdict Contestant::prepare(int set, Caches caches, CallTime& time) {
  if (workspace_) inputs_->memory().zero(workspace_->data(), workspace_->bytes());
  return turn(runner::Op::prepare, set, caches, {}, time);
}

Verdict Contestant::run(int set, Caches caches, CallTime& time, runner::Mode mode) {
  return on_gpu() ? device_turn(set, caches, time, mode) : turn(runner::Op::run, set, caches, {}, time);
}

Verdict Contestant::device_turn(int set, Caches caches, CallTime& time, runner::Mode mode) {
  runner::Kind kind;
  kind.caches = caches == Caches::flushed ? runner::CacheState::flushed : caches == Caches::resident ? runner::CacheState::resident : runner::CacheState::as_they_are;
  kind.mode = mode == runner::Mode::device && synchronises_ ? runner::Mode::end_to_end : mode;
  const bool knew = synchronises_;
  const Verdict verdict = turn(runner::Op::run, set, caches, kind, time);
  // The outputs are right, the time is not: the caller sees none, and the next call is taken otherwise.
  if (synchronises_ && !knew) time.ns = -1;
  return verdict;
}

Verdict Contestant::open_burst(const std::vector<std::vector<Buffer>>& input_sets) {
  burst_outputs_.clear();
  for (size_t index = 0; index < input_sets.size(); ++index) {
    runner::LentSet lent;
    lent.set = runner::kMaxSets + static_cast<int>(index);
    std::vector<int> descriptors;
    size_t next = 0;
    for (const Buffer& input : input_sets[index]) lent.placement[next++] = input.placement(), descriptors.push_back(input.descriptor());
    std::vector<Buffer> outputs;
    for (const Buffer& like : outputs_) {
      auto buffer = inputs_->memory().lend(like.bytes(), Buffer::Access::writable, Buffer::Place::drawn, index);
      if (!buffer) return {Code::machine_failed, buffer.error().what, ""};
      lent.placement[next++] = buffer->placement(), descriptors.push_back(buffer->descriptor());
      outputs.push_back(std::move(*buffer));
    }
    burst_outputs_.push_back(std::move(outputs));
    if (Verdict verdict = runner_->lend_set(lent, descriptors); !verdict.correct()) return verdict;
  }
  return kFine;
}

Verdict Contestant::burst(int first, int count, Caches caches, CallTime& time) {
  runner::Kind kind;
  kind.mode = runner::Mode::burst;
  kind.count = static_cast<uint16_t>(count);
  kind.caches = caches == Caches::flushed ? runner::CacheState::flushed : runner::CacheState::as_they_are;
  return turn(runner::Op::run, runner::kMaxSets + first, Caches::as_they_are, kind, time);
}

Verdict Contestant::flushes(int count, CallTime& time) {
  runner::Kind kind;
  kind.mode = runner::Mode::burst;
  kind.count = static_cast<uint16_t>(count);
  return turn(runner::Op::touch, 0, Caches::as_they_are, kind, time);
}

Verdict Contestant::run_held(int set) {
  constexpr std::chrono::milliseconds kHeld{3};  // a launch on another stream has long begun by then
  runner::Kind kind;
  kind.caches = runner::CacheState::flushed;
  kind.mode = runner::Mode::held;
  const uint64_t salt = fresh_salt(), before = sample_of_outputs(salt);
  bool worked = false;
  const auto look = [&] {
    std::this_thread::sleep_for(kHeld);
    worked = sample_of_outputs(salt) != before;
  };
  CallTime time;
  const bool waited = synchronises_;
  synchronises_ = false;
  const Verdict verdict = turn(runner::Op::run, set, Caches::flushed, kind, time, look);
  const bool waits = synchronises_;  // then it had to be let go, and may well have worked
  synchronises_ |= waited;
  if (!verdict.correct() || !worked || waits) return verdict;
  return {Code::clock_not_believed, "an output changed while the stream of the call was held: work of it was not ordered on that stream, and so not in the time that was taken", ""};
}

bool Contestant::changed_since() { return on_gpu() && !options_.freezes && alive() && sample_of_outputs(kept_salt_) != kept_sample_; }

Status Contestant::start_idle() {
  WHET_TRY(runner_, Runner::start(options_));
  return {};
}

Verdict Contestant::empty_turn(double& ns) {
  Turn result;
  const Verdict verdict = runner_->turn(runner::Op::touch, 0, limit_, nullptr, result);
  ns = on_gpu() ? result.device_ns : result.ns;
  return verdict;
}

bool Contestant::writes_late() {
  if (!alive()) return false;
  const uint64_t before = digest_of_outputs();
  runner_->thaw();
  bool changed = false;
  for (int i = 0; i < 20 && !changed; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    changed = digest_of_outputs() != before;
  }
  runner_->freeze();
  return changed;
}

}  // namespace whet
