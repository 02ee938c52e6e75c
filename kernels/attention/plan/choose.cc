// SPDX-License-Identifier: Apache-2.0
#include "plan/choose.h"

#include <numeric>

namespace whet_kernels {
namespace {

// `few`: tiles of 64 rows, for decoding and whatever else has few query rows; they run where the bandwidth of the memory decides.
struct Known {
  MakeInstance* make;
  bool few;
};
constexpr Known kKnown[] = {
    {forward_bf16_64, false},          {forward_bf16_96, false},           {forward_bf16_128, false},           {forward_bf16_192, false},
    {forward_bf16_192_128, false},     {forward_bf16_256, false},          {forward_fp16_64, false},            {forward_fp16_128, false},
    {forward_bf16_64_few, true},       {forward_bf16_96_few, true},        {forward_bf16_128_few, true},        {forward_bf16_192_few, true},
    {forward_bf16_256_few, true},      {forward_bf16_64_softcap, false},   {forward_bf16_128_softcap, false},   {forward_bf16_256_softcap, false},
    {forward_bf16_128_few_softcap, true}, {forward_bf16_256_few_softcap, true},
};

bool find(const WhetAttentionShape& s, bool few, Instance& found) {
  for (const Known& known : kKnown) {
    if (known.few != few) continue;
    const Instance instance = known.make();
    if (instance.type != s.q_type || instance.d != s.head_dim || instance.dv != s.v_dim || instance.softcap != (s.softcap > 0)) continue;
    found = instance;
    return true;
  }
  return false;
}

std::string missing_for_shape(const WhetAttentionShape& s) {
  if (s.shared_kv) return "values within the keys (absorbed latent attention)";
  if (s.q_type == WHET_ATTENTION_E4M3 || s.kv_type != s.q_type) return "8-bit keys and values";
  if (s.scale <= 0) return "a scale that is not positive";
  if (s.layout == WHET_ATTENTION_PAGED && s.page_size % 8 != 0) return "pages whose size is no multiple of 8";
  return "";
}

}  // namespace

Choice choose(const WhetAttentionShape& s, int multiprocessors) {
  Choice c;
  c.missing = missing_for_shape(s);
  if (!c.missing.empty()) return c;
  const int group = s.heads / s.kv_heads;
  const bool prefers_few = s.max_q * group <= 64;
  if (!find(s, prefers_few, c.instance) && !find(s, !prefers_few, c.instance)) {
    c.missing = std::string("an instance for these columns, ") + (s.q_type == WHET_ATTENTION_FP16 ? "fp16" : "bf16") + (s.softcap > 0 ? ", with a softcap" : "");
    return c;
  }
  // A box of the copy engine spans whole query rows of all packed heads. Where rows are few, packing fills the tile even if the group does not divide it.
  const bool packs = group > 1 && group <= c.instance.rows && (c.instance.rows % group == 0 || s.max_q * group <= c.instance.rows / group * group);
  c.tiling = {c.instance.rows, c.instance.keys, packs ? group : 1, multiprocessors * c.instance.ctas};
  return c;
}

}  // namespace whet_kernels
