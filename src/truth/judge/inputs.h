// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/task.h"
#include "truth/judge/memory.h"
#include "truth/runner/protocol.h"

namespace whet {

// The input buffers of one workload: kMaxSets sets, so that the address of an input recurs only every third draw. All processes map the same
// pages; no process but the worker can write them.
class Inputs {
 public:
  static Expected<Inputs> make(Memory& memory, const Definition& definition, const Workload& workload, std::string secret, int sets);

  // Writes the contents of this draw into set draw.number % sets. Activations are new in every draw; weights and plans in every
  // `kDrawsPerPlan`-th, and then in all sets.
  void write(const Draw& draw);
  // Writes what `draw` would hold for one input into the set of `host`: for mutants.
  void write_one(const Draw& draw, size_t input, int set);

  // Until reveal(), a stretch of each activation of this draw holds something else: a thread that looks at the inputs before the call begins computes
  // from the wrong ones. Returns the bytes that reveal() has put back, to be flushed like the rest.
  void hide(const Draw& draw);
  std::vector<std::span<const uint8_t>> reveal();

  // The draw that comes next. One of every four is a twin of the one before; which, by secret dice. (No more: a twin can be answered by
  // computing only what changed, and the quarter of the times that lies lowest does not count.)
  Draw next(int number) const;
  bool have_twins() const;  // an activation can be drawn anew in part

  int set_of(int draw) const { return draw % static_cast<int>(sets_.size()); }
  int epoch_of(int draw) const { return has_plan_ ? draw / kDrawsPerPlan : 0; }
  bool has_plan() const { return has_plan_; }
  Memory& memory() const { return *memory_; }
  // Sets beside those of the draws, and their contents: activations by a key of this name, weights and plans those of the draw that was written last.
  Expected<std::vector<std::vector<Buffer>>> more_sets(int count) const;
  void write_more(std::vector<Buffer>& set, const std::string& name);
  // From here on calls have the scalars of `workload`, which is the same in all else and outlives them.
  void take_scalars(const Workload& workload) { workload_ = &workload; }
  // A private copy of one set, alone, that whoever it is lent to may write to.
  Expected<Inputs> copy_of(int set) const;
  std::vector<std::vector<Buffer*>> all();
  std::vector<Buffer>& set(int index) { return sets_[static_cast<size_t>(index)]; }
  const std::vector<const TensorSpec*>& tensors() const { return tensors_; }
  const std::vector<std::vector<int64_t>>& shapes() const { return shapes_; }
  uint64_t bytes() const;  // of one set

  // The layout of a call; `for_reference` widens float outputs. `outputs` are the buffers that receive them.
  runner::Layout layout(bool for_reference, int num_threads, const std::vector<Buffer>& outputs) const;

  static constexpr int kDrawsPerPlan = 4;

 private:
  bool can_vary(size_t input) const;  // a stretch of it can be drawn anew

  Memory* memory_ = nullptr;
  const Definition* definition_ = nullptr;
  const Workload* workload_ = nullptr;
  std::string secret_;
  std::vector<const TensorSpec*> tensors_;      // the tensor inputs, in Definition order
  std::vector<InputGenerator> generators_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<std::vector<Buffer>> sets_;
  struct Hidden {
    uint8_t* data;
    uint64_t bytes;
    const uint8_t* truth;  // what belongs there
  };
  std::vector<Hidden> hidden_;
  std::vector<Block> truths_;  // beside the inputs
  bool has_plan_ = false;
  int written_epoch_ = -1;
};

}  // namespace whet
