// SPDX-License-Identifier: Apache-2.0
#include "combine.h"

namespace attention {
namespace {

// A warp per row and head, two columns a lane and turn. With a descale per sequence the row's sequence is searched for.
__global__ void add_parts(const Problem p, const Parts parts) {
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  const long long rows = p.total_q * p.heads;
  if (row >= rows) return;
  const int head = static_cast<int>(row % p.heads);
  float top = -INFINITY;
  for (int part = 0; part < parts.count; ++part) top = fmaxf(top, parts.sums[part * rows + row].x);
  const bool seen = top > -INFINITY;
  float sum = 0;
  if (p.sink && seen) {
    const float logit = __uint_as_float(static_cast<unsigned>(p.sink[head]) << 16) * 1.4426950408889634f;
    top = fmaxf(top, logit);
    sum = exp2_fast(logit - top);
  }
  for (int part = 0; part < parts.count && seen; ++part) {
    const float2 one = parts.sums[part * rows + row];
    sum += one.y * exp2_fast(one.x - top);
  }
  float share = seen ? 1 / sum : 0;
  if (p.v_descale) {
    const long long q_row = row / p.heads;
    int sequence = 0;
    if (p.first_q) while (p.first_q[sequence + 1] <= q_row) ++sequence;
    else sequence = static_cast<int>(q_row / p.q_len);
    share *= p.v_descale[sequence * p.kv_heads + head / (p.heads / p.kv_heads)];
  }
  for (int column = 2 * lane; column < p.dv; column += 64) {
    float2 total = make_float2(0, 0);
    for (int part = 0; part < parts.count && seen; ++part) {
      const float2 one = parts.sums[part * rows + row];
      if (one.y == 0) continue;
      const float weight = exp2_fast(one.x - top);
      const float2 value = *reinterpret_cast<const float2*>(parts.outputs + (part * rows + row) * p.dv + column);
      total.x += value.x * weight;
      total.y += value.y * weight;
    }
    const unsigned both = p.q_kind == Kind::fp16 ? pack<__half>(total.x * share, total.y * share) : pack<__nv_bfloat16>(total.x * share, total.y * share);
    *reinterpret_cast<unsigned*>(static_cast<unsigned short*>(p.o) + row * p.dv + column) = both;
  }
}

}  // namespace

const char* combine(const Problem& p, const Parts& parts, cudaStream_t stream) {
  constexpr int kWarps = 4;
  const long long blocks = (p.total_q * p.heads + kWarps - 1) / kWarps;
  add_parts<<<static_cast<unsigned>(blocks), 32 * kWarps, 0, stream>>>(p, parts);
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

}  // namespace attention
