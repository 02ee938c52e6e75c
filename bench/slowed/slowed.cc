// SPDX-License-Identifier: Apache-2.0
// Wraps an attention Solution and makes it about 3 % slower in an honest way: after the call it computes 3 % of the query rows again (for a
// single query: attends once more to the first 3 % of the cache, into memory of its own). The wrapped Solution's sources are compiled with
// -Dwhet_solution_v1=wrapped_solution_v1, which this file undoes for itself.
#include "whet/candidate.h"

#include <algorithm>
#include <vector>

#undef whet_solution_v1
extern "C" const WhetSolution* wrapped_solution_v1(void);

namespace {

constexpr double kAgain = 0.03;
const WhetEntry* wrapped_entries;

whet_int64 bytes_per_element(const WhetTensor& tensor) { return tensor.dtype.bits / 8; }

// The same call on fewer rows: tensors q, k, v, o and axes batch, q_len, kv_len, q_heads, kv_heads, head_dim are replaced.
whet_int32 run_part(const WhetEntry& entry, const WhetCall* call, void* state, whet_int64 batch, whet_int64 first_row, whet_int64 rows, whet_int64 keys, void* output) {
  const whet_int64 *a = call->axes, q_row = a[3] * a[5], kv_row = a[4] * a[5];
  whet_int64 axes[6] = {1, rows, keys, a[3], a[4], a[5]};
  WhetTensor tensors[4] = {call->tensors[0], call->tensors[1], call->tensors[2], call->tensors[3]};
  whet_int64 shapes[4][4] = {{1, rows, a[3], a[5]}, {1, keys, a[4], a[5]}, {1, keys, a[4], a[5]}, {1, rows, a[3], a[5]}};
  for (int i = 0; i < 4; ++i) {
    const bool is_query = i == 0 || i == 3;
    const whet_int64 offset = is_query ? (batch * a[1] + first_row) * q_row : batch * a[2] * kv_row;
    tensors[i].data = static_cast<char*>(tensors[i].data) + offset * bytes_per_element(tensors[i]);
    tensors[i].shape = shapes[i];
  }
  if (output) tensors[3].data = output;
  WhetCall part = *call;
  part.tensors = tensors;
  part.axes = axes;
  return entry.run(&part, state);
}

whet_int32 run_slowed(const WhetEntry& entry, const WhetCall* call, void* state) {
  if (const whet_int32 code = entry.run(call, state); code != 0) return code;
  const whet_int64 *a = call->axes, q_len = a[1], kv_len = a[2];
  const bool causal = call->scalars[1].i != 0;
  if (q_len < 32) {
    static std::vector<char> output;
    output.resize(static_cast<size_t>(q_len * a[3] * a[5] * bytes_per_element(call->tensors[3])));
    for (whet_int64 batch = 0; batch < a[0]; ++batch)
      if (const whet_int32 code = run_part(entry, call, state, batch, 0, q_len, std::max<whet_int64>(1, static_cast<whet_int64>(kAgain * static_cast<double>(kv_len))), output.data())) return code;
    return 0;
  }
  const whet_int64 rows = std::max<whet_int64>(1, static_cast<whet_int64>(kAgain * static_cast<double>(q_len) + 0.5));
  const whet_int64 first = (q_len - rows) / 2;  // rows of average length under a causal mask
  for (whet_int64 batch = 0; batch < a[0]; ++batch) {
    const whet_int64 keys = causal ? std::clamp<whet_int64>(first + rows + kv_len - q_len, 1, kv_len) : kv_len;
    if (const whet_int32 code = run_part(entry, call, state, batch, first, rows, keys, nullptr)) return code;
  }
  return 0;
}

whet_int32 run_first(const WhetCall* call, void* state) { return run_slowed(wrapped_entries[0], call, state); }
whet_int32 run_second(const WhetCall* call, void* state) { return run_slowed(wrapped_entries[1], call, state); }

}  // namespace

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) {
  static WhetEntry entries[2];
  static WhetSolution table;
  const WhetSolution* wrapped = wrapped_solution_v1();
  if (!wrapped || wrapped->num_entries > 2) return nullptr;
  wrapped_entries = wrapped->entries;
  for (unsigned i = 0; i < wrapped->num_entries; ++i) {
    entries[i] = wrapped->entries[i];
    entries[i].run = i == 0 ? run_first : run_second;
  }
  table = {wrapped->abi_version, wrapped->num_entries, entries};
  return &table;
}
