// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cstdio>
#include <utility>

#include "launch.h"

namespace attention {
namespace {

int multiprocessors() {
  static const int count = [] {
    int device = 0, found = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device);
    return found > 0 ? found : 1;
  }();
  return count;
}

// e4m3 queries are multiplied as fp16, which holds every e4m3 number; bfloat16 queries make bfloat16 of e4m3 keys.
Launch* kernel_for(const Problem& p) {
  const bool bf16 = p.q_kind == Kind::bf16;
  if (p.mla) return launch_bf16_mla;
  if (p.d == 192 && p.dv == 128) return bf16 ? launch_bf16_192_128 : launch_fp16_192_128;
  switch (p.d) {
    case 64: return bf16 ? launch_bf16_64 : launch_fp16_64;
    case 96: return bf16 ? launch_bf16_96 : launch_fp16_96;
    case 128: return bf16 ? launch_bf16_128 : launch_fp16_128;
    case 192: return bf16 ? launch_bf16_192 : launch_fp16_192;
    default: return bf16 ? launch_bf16_256 : launch_fp16_256;
  }
}

template <int kContract>
whet_int32 workspace_bytes(const WhetCall* call, whet_uint64* bytes) {
  *bytes = 4 * static_cast<whet_uint64>(make_plan(read_call(kContracts[kContract], call), multiprocessors()).partial_floats);
  return 0;
}

template <int kContract>
whet_int32 run(const WhetCall* call, void*) {
  const Problem p = read_call(kContracts[kContract], call);
  const Plan plan = make_plan(p, multiprocessors());
  const char* problem = plan.tile.rows == 0 ? "no kernel for these columns; see rules in task.toml"
                                            : kernel_for(p)(p, plan, call->stream, static_cast<float*>(call->workspace));
  if (problem) std::snprintf(call->message, call->message_bytes, "%s", problem);
  return problem ? 1 : 0;
}

template <int... kIndex>
const WhetSolution* table(std::integer_sequence<int, kIndex...>) {
  static const WhetEntry entries[] = {{kContracts[kIndex].name, workspace_bytes<kIndex>, nullptr, run<kIndex>, nullptr}...};
  static const WhetSolution solution = {WHET_ABI_VERSION, sizeof entries / sizeof entries[0], entries};
  return &solution;
}

}  // namespace
}  // namespace attention

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return attention::table(std::make_integer_sequence<int, attention::kNumContracts>()); }
