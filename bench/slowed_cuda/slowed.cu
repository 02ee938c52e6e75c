// SPDX-License-Identifier: Apache-2.0
// Wraps a CUDA Solution and makes it 2 % slower in an honest way: a kernel before it notes the time, one behind it keeps the stream until 2 % more have
// passed. What two launches take is taken off, so the wrapped Solution should take some 100 us or more. The wrapped Solution's sources are compiled with
// -Dwhet_solution_v1=wrapped_solution_v1, which this file undoes for itself.
#include "whet/candidate.h"

#include <cstdint>
#include <utility>

#undef whet_solution_v1
extern "C" const WhetSolution* wrapped_solution_v1(void);

namespace {

constexpr double kMore = 0.02;
constexpr double kTwoLaunchesNs = 2000;
constexpr whet_uint64 kAligned = 256;
constexpr int kMostEntries = 16;

const WhetEntry* wrapped = nullptr;

__device__ std::uint64_t now_ns() {
  std::uint64_t now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void note_time(std::uint64_t* begin) { *begin = now_ns(); }

__global__ void linger(const std::uint64_t* begin) {
  const std::uint64_t entered = now_ns();
  const double more = kMore * static_cast<double>(entered - *begin) - kTwoLaunchesNs;
  while (static_cast<double>(now_ns() - entered) < more) {}
}

whet_uint64 rounded(whet_uint64 bytes) { return (bytes + kAligned - 1) / kAligned * kAligned; }

template <int kEntry>
whet_int32 workspace_bytes(const WhetCall* call, whet_uint64* bytes) {
  *bytes = 0;
  const whet_int32 code = wrapped[kEntry].workspace_bytes ? wrapped[kEntry].workspace_bytes(call, bytes) : 0;
  *bytes = rounded(*bytes) + kAligned;  // behind it, the time at which the call began
  return code;
}

template <int kEntry>
whet_int32 run(const WhetCall* call, void* state) {
  auto* begin = reinterpret_cast<std::uint64_t*>(static_cast<char*>(call->workspace) + call->workspace_bytes - kAligned);
  WhetCall inner = *call;
  inner.workspace_bytes -= kAligned;
  const auto stream = static_cast<cudaStream_t>(call->stream);
  note_time<<<1, 1, 0, stream>>>(begin);
  const whet_int32 code = wrapped[kEntry].run(&inner, state);
  linger<<<1, 1, 0, stream>>>(begin);
  return code ? code : static_cast<whet_int32>(cudaGetLastError());
}

template <int... kIndex>
void wrap(WhetEntry* entries, unsigned count, std::integer_sequence<int, kIndex...>) {
  const auto one = [&](unsigned i, const WhetEntry& entry) {
    if (i >= count) return;
    entries[i] = wrapped[i];
    entries[i].workspace_bytes = entry.workspace_bytes, entries[i].run = entry.run;
  };
  (one(kIndex, WhetEntry{nullptr, workspace_bytes<kIndex>, nullptr, run<kIndex>, nullptr}), ...);
}

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) {
  static WhetEntry entries[kMostEntries];
  static WhetSolution table;
  const WhetSolution* solution = wrapped_solution_v1();
  if (!solution || solution->num_entries > kMostEntries) return nullptr;
  wrapped = solution->entries;
  wrap(entries, solution->num_entries, std::make_integer_sequence<int, kMostEntries>());
  table = {solution->abi_version, solution->num_entries, entries};
  return &table;
}
