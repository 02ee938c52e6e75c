// SPDX-License-Identifier: Apache-2.0
#include "truth/profile/derived.h"

#include <cmath>
#include <optional>

namespace whet {
namespace {

constexpr const char* kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr const char* kStallSuffix = "_per_issue_active.ratio";
// Waiting for memory: results of global or local loads, and room in the queues to it.
constexpr const char* kMemoryStalls[] = {"long_scoreboard", "lg_throttle", "membar", "drain"};

class Reader {
 public:
  explicit Reader(LaunchProfile& launch) : launch_(launch) {}
  std::optional<double> operator()(const std::string& name) const {
    const auto found = launch_.counters.find(name);
    if (found == launch_.counters.end()) return std::nullopt;
    return found->second.value;
  }
  void add(const std::string& name, double value, const char* unit) {
    if (std::isfinite(value)) launch_.counters["whet__" + name] = {value, unit};
  }
  // 100 part / whole, 0 where there is none of the whole.
  void share(const std::string& name, double part, double whole) { add(name, whole > 0 ? 100 * part / whole : 0, "%"); }
  const LaunchProfile& launch() const { return launch_; }

 private:
  LaunchProfile& launch_;
};

void add_stalls(Reader& read) {
  double all = 0;
  std::map<std::string, double> stalls;
  const std::string prefix = kStallPrefix, suffix = kStallSuffix;
  for (const auto& [name, counter] : read.launch().counters) {
    if (!name.starts_with(prefix) || !name.ends_with(suffix)) continue;
    const std::string reason = name.substr(prefix.size(), name.size() - prefix.size() - suffix.size());
    // A warp that issues does not wait; one that another was preferred to waits for nothing but its turn, and stays in the whole.
    if (reason == "selected") continue;
    stalls[reason] = counter.value;
    all += counter.value;
  }
  if (stalls.empty()) return;
  double memory = 0;
  for (const auto& [reason, value] : stalls) read.share("stall_" + reason + ".pct", value, all);
  for (const char* reason : kMemoryStalls)
    if (const auto found = stalls.find(reason); found != stalls.end()) memory += found->second;
  read.share("memory_stalls.pct", memory, all);
}

void add_shape(Reader& read) {
  const auto sms = read("device__attribute_multiprocessor_count"), grid = read("launch__grid_size"), waves = read("launch__waves_per_multiprocessor");
  if (sms && grid && *sms > 0) read.add("sms_with_a_block.pct", 100 * std::min(1.0, *grid / *sms), "%");
  // What rounding up to whole waves wastes. A grid of less than a wave has no tail.
  if (waves && *waves > 0) read.add("wave_loss.pct", *waves <= 1 ? 0 : 100 * (1 - *waves / std::ceil(*waves)), "%");
  const auto mean = read("sm__cycles_active.avg"), most = read("sm__cycles_active.max");
  if (mean && most && *most > 0) read.add("sm_imbalance.pct", 100 * (1 - *mean / *most), "%");
}

void add_memory(Reader& read) {
  const auto dram = read("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"), l2 = read("lts__throughput.avg.pct_of_peak_sustained_elapsed");
  if (dram && l2) read.add("memory_busy.pct", std::max(*dram, *l2), "%");
  const auto conflicts = read("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"), wavefronts = read("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum");
  if (conflicts && wavefronts) read.share("shared_conflicts.pct", *conflicts, *wavefronts);
  const std::string requests = "l1tex__t_requests_pipe_lsu_mem_global_op_";
  const auto loads = read(requests + "ld.sum"), stores = read(requests + "st.sum"), atomics = read(requests + "atom.sum"), reductions = read(requests + "red.sum");
  if (loads) read.add("global_loads.sum", *loads, "");
  if (loads && stores && atomics && reductions) read.share("atomic_requests.pct", *atomics + *reductions, *loads + *stores + *atomics + *reductions);
  const auto staged = read("l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum");
  if (staged && loads) read.share("loads_staged_through_registers.pct", *staged, *loads);
  const auto tma = read("smsp__inst_executed_op_tma_ld.sum"), ldgsts = read("sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum");
  if (tma && ldgsts) read.add("async_copies.sum", *tma + *ldgsts, "");
}

void add_instructions(Reader& read) {
  const auto spilling = read("sass__inst_executed_register_spilling"), all = read("smsp__inst_executed.sum");
  if (spilling && all) read.share("spilling_instructions.pct", *spilling, *all);
  double operations = 0;
  bool known = false;
  for (const char* type : {"bf16_dst_fp32", "fp16", "fp64", "fp8_sparsity_off", "int8", "tf32_dst_fp32"})
    if (const auto found = read(std::string("sm__ops_path_tensor_src_") + type + ".sum")) operations += *found, known = true;
  if (known) read.add("tensor_ops.sum", operations, "");
}

std::vector<std::string> interesting() {
  std::vector<std::string> names = {
      "gpu__time_duration.sum", "device__attribute_multiprocessor_count", "launch__grid_size", "launch__block_size", "launch__waves_per_multiprocessor",
      "launch__registers_per_thread", "launch__shared_mem_per_block", "launch__occupancy_limit_registers", "launch__occupancy_limit_shared_mem",
      "launch__occupancy_limit_warps", "sm__maximum_warps_per_active_cycle_pct", "sm__warps_active.avg.pct_of_peak_sustained_active", "sm__cycles_active.avg",
      "sm__cycles_active.max", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
      "dram__bytes_read.sum", "dram__bytes_write.sum", "dram__bytes.sum.peak_sustained", "dram__cycles_elapsed.avg.per_second",
      "lts__throughput.avg.pct_of_peak_sustained_elapsed", "lts__t_bytes.sum", "lts__t_sector_hit_rate.pct",
      "l1tex__throughput.avg.pct_of_peak_sustained_active", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
      "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
      "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
      "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "smsp__inst_executed_op_tma_ld.sum",
      "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum", "smsp__issue_active.avg.pct_of_peak_sustained_active", "smsp__inst_executed.sum",
      "smsp__thread_inst_executed_per_inst_executed.ratio", "smsp__warps_eligible.avg.per_cycle_active", "sass__inst_executed_register_spilling",
      "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
      "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "smsp__cycles_elapsed.avg.per_second",
      "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum.per_cycle_elapsed", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum.per_cycle_elapsed",
      "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum.per_cycle_elapsed", "sm__sass_thread_inst_executed_op_ffma_pred_on.sum.peak_sustained"};
  for (const char* type : {"bf16_dst_fp32", "fp16", "fp8_sparsity_off", "int8", "tf32_dst_fp32"})
    for (const char* what : {".sum", ".sum.per_second", ".sum.peak_sustained_elapsed.per_second"})
      names.push_back(std::string("sm__ops_path_tensor_src_") + type + what);
  for (const char* reason : {"barrier", "branch_resolving", "dispatch_stall", "drain", "gmma", "imc_miss", "lg_throttle", "long_scoreboard", "math_pipe_throttle",
                             "membar", "mio_throttle", "misc", "no_instruction", "not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait"})
    names.push_back(std::string(kStallPrefix) + reason + kStallSuffix);
  return names;
}

}  // namespace

void add_derived(LaunchProfile& launch) {
  Reader read(launch);
  add_stalls(read);
  add_shape(read);
  add_memory(read);
  add_instructions(read);
}

const std::vector<std::string>& counters_of_interest() {
  static const std::vector<std::string> names = interesting();
  return names;
}

const std::vector<std::string>& counters_beyond_full() {
  static const std::vector<std::string> names = {
      "smsp__average_warps_issue_stalled_gmma_per_issue_active.ratio", "sass__inst_executed_register_spilling",
      "smsp__thread_inst_executed_per_inst_executed.ratio", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
      "lts__t_bytes.sum", "dram__bytes_write.sum", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
      "lts__throughput.avg.pct_of_peak_sustained_elapsed", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct"};
  return names;
}

}  // namespace whet
