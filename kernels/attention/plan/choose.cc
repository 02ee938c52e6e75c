// SPDX-License-Identifier: Apache-2.0
#include "plan/choose.h"

#include <numeric>

namespace whet_kernels {
namespace {

// What an instance is made for.
enum class Use {
  tall,  // any mask, many query rows
  full,  // no mask but the end of the keys: larger key tiles, as little is wasted at their edges
  few    // tiles of 64 rows: decoding, and whatever else has so few; the bandwidth of the memory decides
};
struct Known {
  MakeInstance* make;
  Use use;
};
constexpr Known kKnown[] = {
    {forward_bf16_64, Use::tall},
    {forward_bf16_96, Use::tall},
    {forward_bf16_128, Use::tall},
    {forward_bf16_128_full, Use::full},
    {forward_bf16_192, Use::tall},
    {forward_bf16_192_128, Use::tall},
    {forward_bf16_256, Use::tall},
    {forward_fp16_64, Use::tall},
    {forward_fp16_96, Use::tall},
    {forward_fp16_128, Use::tall},
    {forward_fp16_192, Use::tall},
    {forward_fp16_192_128, Use::tall},
    {forward_fp16_256, Use::tall},
    {forward_bf16_64_few, Use::few},
    {forward_bf16_96_few, Use::few},
    {forward_bf16_128_few, Use::few},
    {forward_bf16_192_few, Use::few},
    {forward_bf16_256_few, Use::few},
    {forward_bf16_64_softcap, Use::tall},
    {forward_bf16_128_softcap, Use::tall},
    {forward_bf16_256_softcap, Use::tall},
    {forward_bf16_128_few_softcap, Use::few},
    {forward_bf16_256_few_softcap, Use::few},
    {forward_bf16_latent, Use::few},
    {forward_eight_64, Use::tall},
    {forward_eight_128, Use::tall},
    {forward_eight_256, Use::tall},
    {forward_eight_64_few, Use::few},
    {forward_eight_128_few, Use::few},
    {forward_eight_256_few, Use::few},
    {forward_eight_keys_128_few, Use::few},
};

bool find(const WhetAttentionShape& s, Use use, Instance& found) {
  for (const Known& known : kKnown) {
    if (known.use != use) continue;
    const Instance instance = known.make();
    if (instance.q_type != s.q_type || instance.kv_type != s.kv_type || instance.latent != (s.shared_kv != 0) || instance.d != s.head_dim || instance.dv != s.v_dim ||
        instance.softcap != (s.softcap > 0))
      continue;
    found = instance;
    return true;
  }
  return false;
}

// The first that exists of those that suit the shape.
bool find_any(const WhetAttentionShape& s, int group, Instance& found) {
  const bool unmasked = !s.causal && s.window_left < 0 && s.window_right < 0;
  const Use by_preference[] = {s.max_q * group <= 64 ? Use::few : unmasked && s.max_k >= 6144 ? Use::full : Use::tall, Use::tall, Use::few};
  for (Use use : by_preference)
    if (find(s, use, found)) return true;
  return false;
}

std::string missing_for_shape(const WhetAttentionShape& s) {
  if (s.scale <= 0) return "a scale that is not positive";
  return "";
}

}  // namespace

Choice choose(const WhetAttentionShape& s, int multiprocessors) {
  Choice c;
  c.missing = missing_for_shape(s);
  if (!c.missing.empty()) return c;
  const int group = s.heads / s.kv_heads;
  if (!find_any(s, group, c.instance)) {
    static constexpr const char* kNames[] = {"bf16", "fp16", "e4m3"};
    c.missing = "a kernel for " + std::to_string(s.head_dim) + "/" + std::to_string(s.v_dim) + " columns, " + kNames[s.q_type] + " queries, " + kNames[s.kv_type] + " keys" +
                (s.softcap > 0 ? ", with a softcap" : "") + (s.shared_kv ? ", values within the keys" : "");
    return c;
  }
  // A box of the copy engine spans whole query rows of all packed heads. Where rows are few, packing fills the tile even if the group does not divide it.
  const int rows = c.instance.rows;
  int packed = 1;
  if (group <= rows && (rows % group == 0 || s.max_q * group <= rows / group * group)) packed = group;
  else if (group > rows) packed = std::gcd(group, rows);
  c.tiling = {rows, c.instance.keys, packed, multiprocessors * c.instance.ctas};
  return c;
}

}  // namespace whet_kernels
