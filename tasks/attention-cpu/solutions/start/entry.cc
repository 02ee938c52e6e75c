// SPDX-License-Identifier: Apache-2.0
//
// The door: reads a call, asks for the choices, and runs the path that they name.
#include <cstdio>
#include <new>

#include "families.h"
#include "pool.h"
#include "whet/candidate.h"

namespace start {
namespace {

enum Code { kOk = 0, kBadCall = 1, kNoMemory = 2 };

whet_int32 refuse(const WhetCall* call, whet_int32 code, const char* why) {
  if (call->message && call->message_bytes > 0) std::snprintf(call->message, call->message_bytes, "%s", why);
  return code;
}

// Axes: batch, q_len, kv_len, q_heads, kv_heads, head_dim. Tensors: q, k, v, o. Scalars: scale, causal, window.
whet_int32 read_call(const WhetCall* call, bool bf16, Problem& p) {
  if (call->num_axes != 6 || call->num_tensors != 4 || call->num_scalars != 3) {
    return refuse(call, kBadCall, "expected 6 axes, 4 tensors and 3 scalars");
  }
  for (int i = 0; i < 6; ++i) {
    if (call->axes[i] < 1 || call->axes[i] > (1 << 30)) return refuse(call, kBadCall, "an axis is below 1 or above 2^30");
  }
  const whet_int64* a = call->axes;
  const WhetScalar* s = call->scalars;
  if (a[3] % a[4] != 0) return refuse(call, kBadCall, "q_heads is no multiple of kv_heads");
  if (s[2].i < 0) return refuse(call, kBadCall, "window is negative");
  p = {.batch = a[0], .q_len = a[1], .kv_len = a[2], .q_heads = a[3], .kv_heads = a[4], .head_dim = a[5],
       .scale = static_cast<float>(s[0].f), .causal = s[1].i != 0, .window = s[2].i, .bf16 = bf16,
       .q = call->tensors[0].data, .k = call->tensors[1].data, .v = call->tensors[2].data, .o = call->tensors[3].data};
  return kOk;
}

int thread_limit(const WhetCall* call) { return std::max(call->num_threads, 1); }

std::size_t workspace_of(const Problem& p, const Config& c) {
  switch (c.path) {
    case Path::plain: return plain_workspace(p, c);
    case Path::vectorised: return rows_workspace(p, c);
    case Path::blocked: return blocked_workspace(p, c);
    case Path::split: return split_workspace(p, c);
  }
  return 0;
}

Kernel kernel_of(const Problem& p, const Config& c) {
  switch (c.path) {
    case Path::plain: return plain_run;
    case Path::vectorised: return rows_run;
    case Path::blocked: return p.bf16 ? blocked_bf16_run : blocked_f32_run;
    case Path::split: return split_run;
  }
  return nullptr;
}

template <bool Bf16Storage>
whet_int32 workspace_bytes(const WhetCall* call, whet_uint64* bytes) {
  Problem p;
  if (const whet_int32 code = read_call(call, Bf16Storage, p)) return code;
  *bytes = workspace_of(p, choose(p, thread_limit(call)));
  return kOk;
}

// The state is the pool of threads, and nothing else.
template <bool Bf16Storage>
whet_int32 prepare(const WhetCall* call, void** state) {
  Problem p;
  if (const whet_int32 code = read_call(call, Bf16Storage, p)) return code;
  try {
    *state = new Pool(choose(p, thread_limit(call)).threads);
  } catch (const std::bad_alloc&) {
    return refuse(call, kNoMemory, "no memory for the pool of threads");
  }
  return kOk;
}

template <bool Bf16Storage>
whet_int32 run(const WhetCall* call, void* state) {
  Problem p;
  if (const whet_int32 code = read_call(call, Bf16Storage, p)) return code;
  if (!state) return refuse(call, kBadCall, "run() before prepare()");
  const Config c = choose(p, thread_limit(call));
  if (call->workspace_bytes < workspace_of(p, c)) return refuse(call, kNoMemory, "the workspace is smaller than asked for");
  kernel_of(p, c)(p, c, *static_cast<Pool*>(state), static_cast<char*>(call->workspace));
  return kOk;
}

void destroy(void* state) { delete static_cast<Pool*>(state); }

constexpr WhetEntry kEntries[] = {
    {"attention_f32", workspace_bytes<false>, prepare<false>, run<false>, destroy},
    {"attention_bf16", workspace_bytes<true>, prepare<true>, run<true>, destroy},
};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 2, kEntries};

}  // namespace
}  // namespace start

extern "C" const WhetSolution* whet_solution_v1(void) { return &start::kSolution; }
