// SPDX-License-Identifier: Apache-2.0
//
// A call of any Definition of this task as one struct, so that the kernels know one problem and no layouts.
#pragma once

#include "whet/candidate.h"

namespace attention {

enum class Layout { dense, varlen, paged };
enum class Kind { bf16, fp16, e4m3 };

// What a Definition's name says. The order of its tensors, axes and scalars follows from it (read_call).
struct Contract {
  const char* name;
  Layout layout;
  Kind q, kv;
  bool sink, leftpad, mla;
};
inline constexpr Contract kContracts[] = {
    {"attention_dense_bf16", Layout::dense, Kind::bf16, Kind::bf16, false, false, false},
    {"attention_dense_fp16", Layout::dense, Kind::fp16, Kind::fp16, false, false, false},
    {"attention_dense_e4m3", Layout::dense, Kind::e4m3, Kind::e4m3, false, false, false},
    {"attention_dense_bf16_sink", Layout::dense, Kind::bf16, Kind::bf16, true, false, false},
    {"attention_dense_bf16_leftpad", Layout::dense, Kind::bf16, Kind::bf16, false, true, false},
    {"attention_varlen_bf16", Layout::varlen, Kind::bf16, Kind::bf16, false, false, false},
    {"attention_varlen_e4m3", Layout::varlen, Kind::e4m3, Kind::e4m3, false, false, false},
    {"attention_paged_bf16", Layout::paged, Kind::bf16, Kind::bf16, false, false, false},
    {"attention_paged_e4m3", Layout::paged, Kind::e4m3, Kind::e4m3, false, false, false},
    {"attention_paged_bf16_kve4m3", Layout::paged, Kind::bf16, Kind::e4m3, false, false, false},
    {"attention_paged_bf16_sink", Layout::paged, Kind::bf16, Kind::bf16, true, false, false},
    {"attention_paged_bf16_mla", Layout::paged, Kind::bf16, Kind::bf16, false, false, true},
};
inline constexpr int kNumContracts = sizeof kContracts / sizeof kContracts[0];

// Row and head strides follow from the dense layout: a row of q is q_heads x d, of k kv_heads x d, of v kv_heads x dv. With mla v is k,
// and its first dv columns count. Pointers that a Definition does not have are null.
struct Problem {
  const void *q, *k, *v;
  void* o;
  const unsigned short* sink;               // bfloat16, per query head
  const int* leftpad;                       // per sequence
  const int *first_q, *first_k;             // cumulative lengths, batch + 1
  const int *used_k, *page_table;           // paged: keys of a sequence; pages_per_seq columns
  const float *q_descale, *k_descale, *v_descale;  // batch x kv_heads
  long long batch, q_len, kv_len, total_q;  // dense: both lengths; total_q is always the rows of q
  long long page_size, pages_per_seq;
  long long max_q, max_k;                   // upper bounds of the lengths
  int heads, kv_heads, d, dv;
  Kind q_kind, kv_kind;
  bool mla, causal;
  long long left, right;  // -1: no limit
  float scale, softcap;
};

inline Problem read_call(const Contract& c, const WhetCall* call) {
  Problem p = {};
  int tensor = 0, axis = 0, scalar = 0;
  const auto next = [&] { return call->tensors[tensor++].data; };
  p.q = next();
  p.k = next();
  p.v = c.mla ? p.k : next();
  if (c.sink) p.sink = static_cast<const unsigned short*>(next());
  if (c.leftpad) p.leftpad = static_cast<const int*>(next());
  if (c.layout != Layout::dense) p.first_q = static_cast<const int*>(next());
  if (c.layout == Layout::varlen) p.first_k = static_cast<const int*>(next());
  if (c.layout == Layout::paged) {
    p.used_k = static_cast<const int*>(next());
    p.page_table = static_cast<const int*>(next());
  }
  if (c.kv == Kind::e4m3) {
    if (c.q == Kind::e4m3) p.q_descale = static_cast<const float*>(next());
    p.k_descale = static_cast<const float*>(next());
    p.v_descale = static_cast<const float*>(next());
  }
  p.o = next();

  p.batch = call->axes[axis++];
  if (c.layout == Layout::dense) {
    p.q_len = p.max_q = call->axes[axis++];
    p.kv_len = p.max_k = call->axes[axis++];
    p.total_q = p.batch * p.q_len;
  } else {
    ++axis;  // batch + 1
    p.total_q = call->axes[axis++];
    if (c.layout == Layout::varlen) {
      ++axis;  // keys in all
    } else {
      ++axis;  // pages in all
      p.page_size = call->axes[axis++];
      p.pages_per_seq = call->axes[axis++];
    }
  }
  p.heads = static_cast<int>(call->axes[axis++]);
  p.kv_heads = static_cast<int>(call->axes[axis++]);
  p.d = static_cast<int>(call->axes[axis++]);
  p.dv = static_cast<int>(call->axes[axis++]);

  p.scale = static_cast<float>(call->scalars[scalar++].f);
  p.causal = call->scalars[scalar++].i != 0;
  p.left = call->scalars[scalar++].i;
  p.right = call->scalars[scalar++].i;
  p.softcap = static_cast<float>(call->scalars[scalar++].f);
  if (c.layout != Layout::dense) {
    p.max_q = call->scalars[scalar++].i;
    p.max_k = call->scalars[scalar++].i;
  }
  if (p.causal) p.right = 0;
  p.q_kind = c.q;
  p.kv_kind = c.kv;
  p.mla = c.mla;
  return p;
}

}  // namespace attention
