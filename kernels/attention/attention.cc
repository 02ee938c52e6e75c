// SPDX-License-Identifier: Apache-2.0
//
// The C API: plans on the host, launches on the device.
#include "include/whet_kernels/attention.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>

#include "forward/combine.h"
#include "forward/kernel_arguments.h"
#include "plan/choose.h"
#include "plan/tensor_map.h"

using namespace whet_kernels;

struct WhetAttentionPlan {
  WhetAttentionShape shape;
  Choice choice;
  Facts facts;  // all but the buffers
  int grid;
  int combined;  // rows' tickets that a second launch adds up; 0: there is none
  std::string description;
};

namespace {

constexpr std::size_t kMessage = 256;

const char* say(char* message, const std::string& text) {
  std::snprintf(message, kMessage, "%s", text.c_str());
  return message;
}

int multiprocessors() {
  static const int count = [] {
    int device = 0, found = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, device);
    return found > 0 ? found : 132;
  }();
  return count;
}

// Places in the workspace, each at a multiple of 256 bytes.
struct Layout {
  std::size_t tickets, first_part, first_of_cta, work, norms, partial, bytes;
};
Layout layout_of(const Choice& c, const Bounds& b) {
  std::size_t at = 256;  // the counters
  const auto take = [&](std::size_t bytes) {
    const std::size_t place = at;
    at += (bytes + 255) / 256 * 256;
    return place;
  };
  Layout l;
  l.tickets = take(4 * static_cast<std::size_t>(b.tickets * c.instance.consumers));
  l.first_part = take(4 * static_cast<std::size_t>(b.tickets));
  l.first_of_cta = take(4 * static_cast<std::size_t>(c.tiling.ctas + 1));
  l.work = take(sizeof(Work) * static_cast<std::size_t>(b.work));
  const std::size_t rows = static_cast<std::size_t>(b.slots * c.tiling.rows);
  l.norms = take(8 * rows);
  l.partial = take(4 * rows * static_cast<std::size_t>(c.instance.dv));
  l.bytes = at;
  return l;
}

Choice checked(const WhetAttentionShape& s) {
  Choice c;
  if (s.heads <= 0 || s.kv_heads <= 0 || s.heads % s.kv_heads != 0) {
    c.missing = "heads that are no multiple of the key heads";
    return c;
  }
  return choose(s, multiprocessors());
}

std::string missing(const Choice& c) { return "attention: not supported yet: " + c.missing; }

cudaError_t upload(void* to, const void* from, std::size_t bytes, cudaStream_t stream) { return bytes > 0 ? cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream) : cudaSuccess; }

Facts facts_of(const WhetAttentionShape& s, const Choice& c, const Schedule& schedule, const Layout& l, char* workspace) {
  constexpr float kLog2e = 1.4426950408889634f;
  Facts f = {};
  f.work = reinterpret_cast<const Work*>(workspace + l.work);
  f.first_of_cta = schedule.first_of_cta.empty() ? nullptr : reinterpret_cast<const int*>(workspace + l.first_of_cta);
  f.counters = reinterpret_cast<Counters*>(workspace);
  f.tickets = schedule.combines_later ? nullptr : reinterpret_cast<unsigned*>(workspace + l.tickets);
  f.first_part = reinterpret_cast<const int*>(workspace + l.first_part);
  f.partial = reinterpret_cast<float*>(workspace + l.partial);
  f.partial_norms = reinterpret_cast<float*>(workspace + l.norms);
  f.num_work = static_cast<int>(schedule.work.size());
  f.pages_per_seq = static_cast<int>(s.pages_per_seq);
  f.last_page = static_cast<int>(s.num_pages) - 1;
  f.page_size = static_cast<int>(s.page_size);
  f.page_rows = s.layout == WHET_ATTENTION_PAGED ? std::gcd(static_cast<int>(s.page_size), c.tiling.keys) : 0;
  f.heads = s.heads;
  f.kv_heads = s.kv_heads;
  f.group = c.tiling.group;
  f.group_magic = 65536 / c.tiling.group + 1;
  f.q_box_bytes = c.tiling.rows / c.tiling.group * c.tiling.group * c.instance.row_bytes;
  f.left = static_cast<int>(s.window_left);
  f.right = s.causal ? 0 : static_cast<int>(s.window_right);
  f.logit_scale = (s.softcap > 0 ? s.softcap : s.scale) * kLog2e;
  f.softcap_scale = s.softcap > 0 ? s.scale / s.softcap : 0.f;
  return f;
}

std::string describe(const WhetAttentionShape& s, const Choice& c, const Schedule& schedule, int grid) {
  char text[256];
  std::snprintf(text, sizeof text, "forward %s, %d x %d tiles, %d stages, %s, %d packed heads, %d CTAs, %s, %zu pieces, %d partial%s", c.instance.name, c.tiling.rows, c.tiling.keys,
                c.instance.stages, s.layout == WHET_ATTENTION_DENSE ? "dense" : s.layout == WHET_ATTENTION_PACKED ? "packed" : "paged", c.tiling.group, grid,
                schedule.first_of_cta.empty() ? "next piece to whoever is free" : "equal shares", schedule.work.size(), schedule.slots, schedule.combines_later ? ", added up by a second launch" : "");
  return text;
}

int bytes_of(int type) { return type == WHET_ATTENTION_E4M3 ? 1 : 2; }

// rows x heads x columns as (column of a block, head of a group, row, block, group).
Box box_of_q(const WhetAttentionShape& s, const Choice& c, const void* q) {
  const long long bytes = bytes_of(s.q_type), block = c.instance.row_bytes, row = bytes * s.head_dim, group = c.tiling.group;
  return {q,
          s.q_type,
          c.instance.row_bytes,
          {block / bytes, group, s.total_q, row / block, s.heads / group},
          {bytes, row, row * s.heads, block, row * group},
          {static_cast<int>(block / bytes), static_cast<int>(group), static_cast<int>(c.tiling.rows / group), 1, 1}};
}

// (column of a block, row, block, head, sequence or page). `plain`: for the converter, rows as they are.
Box box_of_kv(const WhetAttentionShape& s, const Choice& c, const void* kv, int width, int row_bytes, bool plain, int page_rows) {
  const long long bytes = bytes_of(s.kv_type), head = bytes * width, row = head * s.kv_heads, block = plain ? head : row_bytes;
  const bool paged = s.layout == WHET_ATTENTION_PAGED, dense = s.layout == WHET_ATTENTION_DENSE;
  const long long rows = paged ? s.page_size : dense ? s.max_k : s.kv_rows, outer = paged ? s.num_pages : dense ? s.batch : 1;
  return {kv,
          s.kv_type,
          plain ? 0 : row_bytes,
          {block / bytes, rows, head / block, s.kv_heads, outer},
          {bytes, row, block, head, row * rows},
          {static_cast<int>(block / bytes), paged ? page_rows : c.tiling.keys, paged ? 1 : static_cast<int>(head / block), 1, 1}};
}

std::string encode_maps(const WhetAttentionPlan& plan, const WhetAttentionBuffers& b, Maps& maps) {
  const WhetAttentionShape& s = plan.shape;
  std::string error = encode(box_of_q(s, plan.choice, b.q), &maps.q);
  // Without a single key nothing is loaded, and there is nothing to describe.
  const long long rows = s.layout == WHET_ATTENTION_PAGED ? s.num_pages * s.page_size : s.layout == WHET_ATTENTION_DENSE ? s.max_k * s.batch : s.kv_rows;
  if (rows == 0) {
    maps.k = maps.v = maps.q;
    return error;
  }
  const Instance& i = plan.choice.instance;
  if (error.empty()) error = encode(box_of_kv(s, plan.choice, b.k, s.head_dim, i.row_bytes, i.plain_k, plan.facts.page_rows), &maps.k);
  if (i.latent) maps.v = maps.k;
  else if (error.empty()) error = encode(box_of_kv(s, plan.choice, b.v, s.v_dim, i.row_bytes_v, i.plain_v, plan.facts.page_rows), &maps.v);
  return error;
}

}  // namespace

const char* whet_attention_workspace_bytes(const WhetAttentionShape* shape, size_t* bytes, char* message) {
  const Choice c = checked(*shape);
  if (!c.missing.empty()) return say(message, missing(c));
  *bytes = layout_of(c, bounds_of(*shape, c.tiling)).bytes;
  return nullptr;
}

const char* whet_attention_plan(const WhetAttentionShape* shape, const WhetAttentionLengths* lengths, void* workspace, void* stream, WhetAttentionPlan** made, char* message) {
  const Choice c = checked(*shape);
  if (!c.missing.empty()) return say(message, missing(c));
  const Bounds bounds = bounds_of(*shape, c.tiling);
  const Layout layout = layout_of(c, bounds);
  const Schedule schedule = whet_kernels::schedule(*shape, *lengths, c.tiling);
  if (static_cast<long long>(schedule.work.size()) > bounds.work || schedule.slots > bounds.slots || schedule.tickets > bounds.tickets)
    return say(message, "attention: lengths that do not fit the shape: total_q is less than the rows of all sequences");
  char* memory = static_cast<char*>(workspace);
  const auto queue = static_cast<cudaStream_t>(stream);
  cudaError_t error = upload(memory + layout.work, schedule.work.data(), schedule.work.size() * sizeof(Work), queue);
  if (error == cudaSuccess) error = upload(memory + layout.first_of_cta, schedule.first_of_cta.data(), schedule.first_of_cta.size() * 4, queue);
  if (error == cudaSuccess) error = cudaFuncSetAttribute(c.instance.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, c.instance.shared_bytes);
  if (error == cudaSuccess) error = upload(memory + layout.first_part, schedule.first_part.data(), schedule.first_part.size() * 4, queue);
  // All of the shared memory: else the driver may leave so much to the first-level cache that only one CTA fits where two would.
  if (error == cudaSuccess) error = cudaFuncSetAttribute(c.instance.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared);
  if (error == cudaSuccess) error = cudaStreamSynchronize(queue);
  if (error != cudaSuccess) return say(message, std::string("attention: planning: ") + cudaGetErrorString(error));
  const int ctas = schedule.first_of_cta.empty() ? c.tiling.ctas : static_cast<int>(schedule.first_of_cta.size()) - 1;
  const int grid = schedule.work.empty() ? 0 : schedule.first_of_cta.empty() ? std::min<int>(ctas, static_cast<int>(schedule.work.size())) : ctas;
  *made = new WhetAttentionPlan{*shape, c, facts_of(*shape, c, schedule, layout, memory), grid, schedule.combines_later ? schedule.tickets : 0, describe(*shape, c, schedule, grid)};
  return nullptr;
}

const char* whet_attention_run(const WhetAttentionPlan* plan, const WhetAttentionBuffers* b, void* stream, char* message) {
  if (plan->grid == 0) return nullptr;
  Maps maps;
  const std::string problem = encode_maps(*plan, *b, maps);
  if (!problem.empty()) return say(message, "attention: " + problem);
  Facts facts = plan->facts;
  facts.o = b->o;
  facts.page_table = plan->shape.layout == WHET_ATTENTION_PAGED ? b->page_table : nullptr;
  facts.sink = b->sink;
  facts.q_descale = b->q_descale;
  facts.k_descale = b->k_descale;
  facts.v_descale = b->v_descale;
  void* arguments[] = {&maps, &facts};
  const Instance& i = plan->choice.instance;
  const cudaError_t error = cudaLaunchKernel(i.kernel, dim3(static_cast<unsigned>(plan->grid)), dim3(static_cast<unsigned>(i.threads)), arguments,
                                             static_cast<std::size_t>(i.shared_bytes), static_cast<cudaStream_t>(stream));
  if (error != cudaSuccess) return say(message, std::string("attention: launch: ") + cudaGetErrorString(error));
  if (plan->combined == 0) return nullptr;
  const cudaError_t second = combine(facts, plan->combined, plan->choice.tiling.rows, i.dv, i.q_type == WHET_ATTENTION_FP16, static_cast<cudaStream_t>(stream));
  return second == cudaSuccess ? nullptr : say(message, std::string("attention: second launch: ") + cudaGetErrorString(second));
}

void whet_attention_destroy(WhetAttentionPlan* plan) { delete plan; }
const char* whet_attention_describe(const WhetAttentionPlan* plan) { return plan->description.c_str(); }
