// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/roofline.h"

#include <optional>
#include <string>
#include <utility>

namespace whet {
namespace {

constexpr const char* kMeasured = "measured on this machine";
constexpr const char* kPeak = "the profiler's peak at the clock of this run";

// The profiler's peak of a type that has sparse operations too is theirs, twice what a dense one can reach.
struct TensorType {
  const char* counter;
  const char* resource;
  double dense_part;
};
constexpr TensorType kTensorTypes[] = {{"bf16_dst_fp32", "tensor bf16", 0.5},
                                       {"fp16", "tensor fp16", 0.5},
                                       {"fp8_sparsity_off", "tensor fp8", 1},
                                       {"tf32_dst_fp32", "tensor tf32", 0.5},
                                       {"int8", "tensor int8", 0.5}};

class Parts {
 public:
  Parts(const LaunchProfile& launch, const MeasuredCeilings& measured) : launch_(launch), measured_(measured) {}

  std::optional<double> counter(const std::string& name) const {
    const auto found = launch_.counters.find(name);
    if (found == launch_.counters.end()) return std::nullopt;
    return found->second.value;
  }
  void add(const char* resource, const char* unit, double achieved, std::optional<double> peak) {
    const auto measured = measured_.find(resource);
    const bool known = measured != measured_.end() && measured->second > 0;
    if (achieved <= 0 || (!known && !(peak && *peak > 0))) return;
    parts_.push_back({resource, achieved, known ? measured->second : *peak, unit, known ? kMeasured : kPeak});
  }
  std::vector<RooflinePart> take() { return std::move(parts_); }

 private:
  const LaunchProfile& launch_;
  const MeasuredCeilings& measured_;
  std::vector<RooflinePart> parts_;
};

std::optional<double> product(std::optional<double> a, std::optional<double> b) {
  if (!a || !b) return std::nullopt;
  return *a * *b;
}

void add_dram(Parts& parts, double ns) {
  const auto read = parts.counter("dram__bytes_read.sum"), written = parts.counter("dram__bytes_write.sum");
  if (!read || !written) return;
  parts.add("dram", "byte/s", (*read + *written) / ns * 1e9,
            product(parts.counter("dram__bytes.sum.peak_sustained"), parts.counter("dram__cycles_elapsed.avg.per_second")));
}

void add_f32(Parts& parts) {
  const std::string prefix = "smsp__sass_thread_inst_executed_op_", suffix = "_pred_on.sum.per_cycle_elapsed";
  const auto fma = parts.counter(prefix + "ffma" + suffix), add = parts.counter(prefix + "fadd" + suffix), multiply = parts.counter(prefix + "fmul" + suffix);
  const auto clock = parts.counter("smsp__cycles_elapsed.avg.per_second");
  if (!fma || !add || !multiply || !clock) return;
  auto peak = product(parts.counter("sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"), clock);
  if (peak) *peak *= 2;
  parts.add("f32", "flop/s", (2 * *fma + *add + *multiply) * *clock, peak);
}

}  // namespace

std::vector<RooflinePart> roofline_of(const LaunchProfile& launch, const MeasuredCeilings& measured) {
  Parts parts(launch, measured);
  if (launch.ns > 0) add_dram(parts, launch.ns);
  for (const TensorType& type : kTensorTypes) {
    const std::string name = std::string("sm__ops_path_tensor_src_") + type.counter + ".sum";
    if (const auto achieved = parts.counter(name + ".per_second"))
      parts.add(type.resource, "flop/s", *achieved, product(parts.counter(name + ".peak_sustained_elapsed.per_second"), type.dense_part));
  }
  add_f32(parts);
  return parts.take();
}

}  // namespace whet
