// SPDX-License-Identifier: Apache-2.0
//
// The Solution: Definitions of attention-hopper through the C API.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "call.h"

namespace whet_kernels {
namespace {

whet_int32 refuse(const WhetCall* call, const char* text) {
  std::snprintf(call->message, call->message_bytes, "%s", text);
  return 1;
}

template <int kContract>
whet_int32 workspace_bytes(const WhetCall* call, whet_uint64* bytes) {
  char message[256];
  size_t wanted = 0;
  const Arguments a = read_call(kContracts[kContract], call);
  if (whet_attention_workspace_bytes(&a.shape, &wanted, message)) return refuse(call, message);
  *bytes = wanted;
  return 0;
}

// Lengths have data here and stay unchanged until the next prepare(), so the schedule is made of them.
class HostLengths {
 public:
  const char* fetch(const WhetAttentionLengths& device, long long batch, cudaStream_t stream) {
    const auto sequences = static_cast<size_t>(batch);
    const std::pair<const int*, std::vector<int>*> wanted[] = {{device.first_q, &first_q_}, {device.first_k, &first_k_}, {device.used_k, &used_k_}, {device.first_key, &first_key_}};
    for (const auto& [from, to] : wanted) {
      if (from == nullptr) continue;
      to->resize(sequences + (from == device.first_q || from == device.first_k ? 1 : 0));
      const cudaError_t error = cudaMemcpyAsync(to->data(), from, 4 * to->size(), cudaMemcpyDeviceToHost, stream);
      if (error != cudaSuccess) return cudaGetErrorString(error);
    }
    const cudaError_t error = cudaStreamSynchronize(stream);
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
  }
  WhetAttentionLengths view() const { return {data(first_q_), data(first_k_), data(used_k_), data(first_key_)}; }

 private:
  static const int* data(const std::vector<int>& list) { return list.empty() ? nullptr : list.data(); }
  std::vector<int> first_q_, first_k_, used_k_, first_key_;
};

template <int kContract>
whet_int32 prepare(const WhetCall* call, void** state) {
  const Arguments a = read_call(kContracts[kContract], call);
  HostLengths lengths;
  if (const char* problem = lengths.fetch(a.lengths, a.shape.batch, static_cast<cudaStream_t>(call->stream))) return refuse(call, problem);
  const WhetAttentionLengths view = lengths.view();
  WhetAttentionPlan* plan = nullptr;
  char message[256];
  if (whet_attention_plan(&a.shape, &view, call->workspace, call->stream, &plan, message)) return refuse(call, message);
  *state = plan;
  return 0;
}

template <int kContract>
whet_int32 run(const WhetCall* call, void* state) {
  char message[256];
  const Arguments a = read_call(kContracts[kContract], call);
  return whet_attention_run(static_cast<const WhetAttentionPlan*>(state), &a.buffers, call->stream, message) ? refuse(call, message) : 0;
}

void destroy(void* state) { whet_attention_destroy(static_cast<WhetAttentionPlan*>(state)); }

template <int... kIndex>
const WhetSolution* table(std::integer_sequence<int, kIndex...>) {
  static const WhetEntry entries[] = {{kContracts[kIndex].name, workspace_bytes<kIndex>, prepare<kIndex>, run<kIndex>, destroy}...};
  static const WhetSolution solution = {WHET_ABI_VERSION, sizeof entries / sizeof entries[0], entries};
  return &solution;
}

}  // namespace
}  // namespace whet_kernels

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return whet_kernels::table(std::make_integer_sequence<int, whet_kernels::kNumContracts>()); }
