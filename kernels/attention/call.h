// SPDX-License-Identifier: Apache-2.0
//
// A call of any Definition of attention-hopper as arguments of the C API. The order of tensors, axes and scalars follows from the Definition's name.
#pragma once

#include "include/whet_kernels/attention.h"
#include "whet/candidate.h"

namespace whet_kernels {

struct Contract {
  const char* name;
  int layout, q_type, kv_type;
  bool sink, leftpad, mla;
};
inline constexpr Contract kContracts[] = {
    {"attention_dense_bf16", WHET_ATTENTION_DENSE, WHET_ATTENTION_BF16, WHET_ATTENTION_BF16, false, false, false},
    {"attention_dense_fp16", WHET_ATTENTION_DENSE, WHET_ATTENTION_FP16, WHET_ATTENTION_FP16, false, false, false},
    {"attention_dense_e4m3", WHET_ATTENTION_DENSE, WHET_ATTENTION_E4M3, WHET_ATTENTION_E4M3, false, false, false},
    {"attention_dense_bf16_sink", WHET_ATTENTION_DENSE, WHET_ATTENTION_BF16, WHET_ATTENTION_BF16, true, false, false},
    {"attention_dense_bf16_leftpad", WHET_ATTENTION_DENSE, WHET_ATTENTION_BF16, WHET_ATTENTION_BF16, false, true, false},
    {"attention_varlen_bf16", WHET_ATTENTION_PACKED, WHET_ATTENTION_BF16, WHET_ATTENTION_BF16, false, false, false},
    {"attention_varlen_e4m3", WHET_ATTENTION_PACKED, WHET_ATTENTION_E4M3, WHET_ATTENTION_E4M3, false, false, false},
    {"attention_paged_bf16", WHET_ATTENTION_PAGED, WHET_ATTENTION_BF16, WHET_ATTENTION_BF16, false, false, false},
    {"attention_paged_e4m3", WHET_ATTENTION_PAGED, WHET_ATTENTION_E4M3, WHET_ATTENTION_E4M3, false, false, false},
    {"attention_paged_bf16_kve4m3", WHET_ATTENTION_PAGED, WHET_ATTENTION_BF16, WHET_ATTENTION_E4M3, false, false, false},
    {"attention_paged_bf16_sink", WHET_ATTENTION_PAGED, WHET_ATTENTION_BF16, WHET_ATTENTION_BF16, true, false, false},
    {"attention_paged_bf16_mla", WHET_ATTENTION_PAGED, WHET_ATTENTION_BF16, WHET_ATTENTION_BF16, false, false, true},
};
inline constexpr int kNumContracts = sizeof kContracts / sizeof kContracts[0];

struct Arguments {
  WhetAttentionShape shape;
  WhetAttentionLengths lengths;  // on the device, as they arrive
  WhetAttentionBuffers buffers;
};

inline Arguments read_call(const Contract& c, const WhetCall* call) {
  Arguments a = {};
  WhetAttentionShape& s = a.shape;
  int tensor = 0, axis = 0, scalar = 0;
  const auto next = [&] { return call->tensors[tensor++].data; };
  const auto next_axis = [&] { return static_cast<long long>(call->axes[axis++]); };
  const auto next_scalar = [&] { return call->scalars[scalar++]; };
  s.layout = c.layout;
  s.q_type = c.q_type;
  s.kv_type = c.kv_type;
  s.shared_kv = c.mla;

  a.buffers.q = next();
  a.buffers.k = next();
  a.buffers.v = c.mla ? a.buffers.k : next();
  if (c.sink) a.buffers.sink = static_cast<const unsigned short*>(next());
  if (c.leftpad) a.lengths.first_key = static_cast<const int*>(next());
  if (c.layout != WHET_ATTENTION_DENSE) a.lengths.first_q = static_cast<const int*>(next());
  if (c.layout == WHET_ATTENTION_PACKED) a.lengths.first_k = static_cast<const int*>(next());
  if (c.layout == WHET_ATTENTION_PAGED) {
    a.lengths.used_k = static_cast<const int*>(next());
    a.buffers.page_table = static_cast<const int*>(next());
  }
  if (c.kv_type == WHET_ATTENTION_E4M3) {
    if (c.q_type == WHET_ATTENTION_E4M3) a.buffers.q_descale = static_cast<const float*>(next());
    a.buffers.k_descale = static_cast<const float*>(next());
    a.buffers.v_descale = static_cast<const float*>(next());
  }
  a.buffers.o = next();

  s.batch = next_axis();
  if (c.layout == WHET_ATTENTION_DENSE) {
    s.max_q = next_axis();
    s.max_k = next_axis();
    s.total_q = s.batch * s.max_q;
  } else {
    next_axis();  // batch + 1
    s.total_q = next_axis();
    if (c.layout == WHET_ATTENTION_PACKED) {
      s.kv_rows = next_axis();
    } else {
      s.num_pages = next_axis();
      s.page_size = next_axis();
      s.pages_per_seq = next_axis();
    }
  }
  s.heads = static_cast<int>(next_axis());
  s.kv_heads = static_cast<int>(next_axis());
  s.head_dim = static_cast<int>(next_axis());
  s.v_dim = static_cast<int>(next_axis());

  s.scale = static_cast<float>(next_scalar().f);
  s.causal = next_scalar().i != 0;
  s.window_left = next_scalar().i;
  s.window_right = next_scalar().i;
  s.softcap = static_cast<float>(next_scalar().f);
  if (c.layout != WHET_ATTENTION_DENSE) {
    s.max_q = next_scalar().i;
    s.max_k = next_scalar().i;
  }
  return a;
}

}  // namespace whet_kernels
