// SPDX-License-Identifier: Apache-2.0
#include <cblas.h>
#include <omp.h>

#include <cstdio>
#include <new>

#include "plan.h"
#include "softmax.h"
#include "tiles.h"

namespace composed {
namespace {

/// Floats of scratch, in the order in which they lie in the workspace.
struct Layout {
  long queries, logits, out, stats, keys, values;  // per thread
  long per_thread;
  long part;   // a partial result: output, peak, sum
  long wide;   // all keys or all values as floats; 0 where that is not done

  Layout(const Shape& s, const Tiles& tiles, bool is_bf16) {
    const bool first = is_bf16 && widen_first(s);
    const long block = is_bf16 && !first ? tiles.keys * s.dim : 0;
    queries = round_up(tiles.rows * s.dim, kLanes);
    logits = tiles.rows * tiles.keys;
    out = round_up(tiles.rows * s.dim, kLanes);
    stats = round_up(2 * tiles.rows, kLanes);
    keys = values = round_up(block, kLanes);
    per_thread = queries + logits + out + stats + keys + values;
    part = round_up(tiles.rows * (s.dim + 2), kLanes);
    wide = first ? round_up(s.batch * s.kv_heads * s.kv_len * s.dim, kLanes) : 0;
  }
};

struct Plan {
  Shape shape;
  Tiles tiles;
  Layout layout;
  Cut cut;

  Plan(const WhetCall& call, bool is_bf16)
      : shape(call), tiles(choose_tiles(shape, is_bf16)), layout(shape, tiles, is_bf16), cut(cut_work(shape, tiles, 256)) {}

  whet_uint64 workspace_bytes() const {
    return whet_uint64(shape.threads * layout.per_thread + cut.parts * layout.part + 2 * layout.wide) * sizeof(float);
  }
};

struct Scratch {
  float *queries, *logits, *out, *peak, *sum, *keys, *values;

  Scratch(const Plan& plan, float* workspace, int thread) {
    const Layout& l = plan.layout;
    queries = workspace + thread * l.per_thread;
    logits = queries + l.queries;
    out = logits + l.logits;
    peak = out + l.out;
    sum = peak + plan.tiles.rows;
    keys = peak + l.stats;
    values = keys + l.keys;
  }
};

/// A matrix of floats with `stride` between its rows.
struct Matrix {
  const float* data;
  long stride;
};

/// to[rows][keys] = a . b^T
void multiply_transposed(const Matrix& a, const Matrix& b, long rows, long keys, long dim, bool gemv, float* to, long stride) {
  if (!gemv) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, int(rows), int(keys), int(dim), 1.0f, a.data, int(a.stride),
                b.data, int(b.stride), 0.0f, to, int(stride));
    return;
  }
  for (long r = 0; r < rows; ++r) {
    cblas_sgemv(CblasRowMajor, CblasNoTrans, int(keys), int(dim), 1.0f, b.data, int(b.stride), a.data + r * a.stride, 1, 0.0f,
                to + r * stride, 1);
  }
}

/// to[rows][dim] = beta * to + a . b
void multiply(const Matrix& a, const Matrix& b, long rows, long keys, long dim, bool gemv, float beta, float* to) {
  if (!gemv) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(rows), int(dim), int(keys), 1.0f, a.data, int(a.stride),
                b.data, int(b.stride), beta, to, int(dim));
    return;
  }
  for (long r = 0; r < rows; ++r) {
    cblas_sgemv(CblasRowMajor, CblasTrans, int(keys), int(dim), 1.0f, b.data, int(b.stride), a.data + r * a.stride, 1, beta,
                to + r * dim, 1);
  }
}

template <class T>
struct Buffers {
  const T *q, *k, *v;
  T* o;
  float *workspace, *parts, *wide_keys, *wide_values;

  Buffers(const WhetCall& call, const Plan& plan)
      : q(static_cast<const T*>(call.tensors[0].data)), k(static_cast<const T*>(call.tensors[1].data)),
        v(static_cast<const T*>(call.tensors[2].data)), o(static_cast<T*>(call.tensors[3].data)),
        workspace(static_cast<float*>(call.workspace)),
        parts(workspace + plan.shape.threads * plan.layout.per_thread),
        wide_keys(parts + plan.cut.parts * plan.layout.part), wide_values(wide_keys + plan.layout.wide) {}
};

template <class T>
Matrix queries_of(const Shape& s, const Task& t, const T* q, float* scratch) {
  if constexpr (sizeof(T) == sizeof(float)) {
    if (s.row_stride() > 0) return {q + s.q_offset(t.b, t.head, t.row0), s.row_stride()};
  }
  for (long r = 0; r < t.rows; ++r) scale_row(q + s.q_offset(t.b, t.head, t.row0 + r), s.dim, 1.0f, scratch + r * s.dim);
  return {scratch, s.dim};
}

/// Keys or values [j, j + count) of the task's head as floats.
template <class T>
Matrix block_of(const Plan& plan, const Task& t, const T* all, const float* wide, long j, long count, float* scratch) {
  const Shape& s = plan.shape;
  const T* from = all + s.kv_offset(t.b, t.head, j);
  if constexpr (sizeof(T) == sizeof(float)) {
    return {from, s.kv_stride()};
  } else {
    if (plan.layout.wide > 0) return {wide + ((t.b * s.kv_heads + t.head) * s.kv_len + j) * s.dim, s.dim};
    // Rows of one head are far apart, so that the hardware does not foresee them.
    constexpr long kAhead = 8;
    for (long i = 0; i < count; ++i) {
      const char* later = reinterpret_cast<const char*>(from + std::min(i + kAhead, count - 1) * s.kv_stride());
      for (long at = 0; at < s.dim * long(sizeof(T)); at += 64) __builtin_prefetch(later + at);
      scale_row(from + i * s.kv_stride(), s.dim, 1.0f, scratch + i * s.dim);
    }
    return {scratch, s.dim};
  }
}

template <class T>
void run_task(const Plan& plan, const Buffers<T>& buffers, const Task& t, Scratch scratch) {
  const Shape& s = plan.shape;
  if (t.part >= 0) {
    scratch.out = buffers.parts + t.part * plan.layout.part;
    scratch.peak = scratch.out + plan.tiles.rows * s.dim;
    scratch.sum = scratch.peak + plan.tiles.rows;
  }
  std::fill(scratch.peak, scratch.peak + t.rows, -INFINITY);
  std::fill(scratch.sum, scratch.sum + t.rows, 0.0f);
  if (t.key0 >= t.key1) std::fill(scratch.out, scratch.out + t.rows * s.dim, 0.0f);
  const Matrix queries = queries_of(s, t, buffers.q, scratch.queries);
  const bool gemv = t.rows <= kGemvRows;
  const float factor = s.scale * 1.44269504089f;
  for (long j = t.key0; j < t.key1; j += plan.tiles.keys) {
    const long count = std::min(plan.tiles.keys, t.key1 - j);
    const long stride = plan.tiles.keys;
    const Matrix keys = block_of(plan, t, buffers.k, buffers.wide_keys, j, count, scratch.keys);
    multiply_transposed(queries, keys, t.rows, count, s.dim, gemv, scratch.logits, stride);
    for (long r = 0; r < t.rows; ++r) {
      float* row = scratch.logits + r * stride;
      const float keep = softmax_row(row, s.first_key(t.row0 + r) - j, s.end_key(t.row0 + r) - j, count, factor, row,
                                     scratch.peak + r, scratch.sum + r);
      if (j > t.key0 && keep != 1.0f) scale_row(scratch.out + r * s.dim, s.dim, keep, scratch.out + r * s.dim);
    }
    const Matrix values = block_of(plan, t, buffers.v, buffers.wide_values, j, count, scratch.values);
    multiply({scratch.logits, stride}, values, t.rows, count, s.dim, gemv, j > t.key0 ? 1.0f : 0.0f, scratch.out);
  }
  if (t.part >= 0) return;
  for (long r = 0; r < t.rows; ++r) {
    const float inverse = scratch.sum[r] > 0.0f ? 1.0f / scratch.sum[r] : 0.0f;
    scale_row(scratch.out + r * s.dim, s.dim, inverse, buffers.o + s.q_offset(t.b, t.head, t.row0 + r));
  }
}

/// Adds up the partial results of rows whose keys were split.
template <class T>
void merge(const Plan& plan, const Buffers<T>& buffers, const Task& t, float* scratch) {
  const Shape& s = plan.shape;
  for (long r = 0; r < t.rows; ++r) {
    const auto part = [&](long i) { return buffers.parts + (t.part + i) * plan.layout.part; };
    const auto stats = [&](long i) { return part(i) + plan.tiles.rows * s.dim + r; };
    float peak = -INFINITY;
    for (long i = 0; i < plan.cut.parts_each; ++i) peak = std::max(peak, *stats(i));
    float total = 0.0f;
    std::fill(scratch, scratch + s.dim, 0.0f);
    for (long i = 0; i < plan.cut.parts_each; ++i) {
      if (*stats(i) == -INFINITY) continue;
      const float weight = std::exp2(*stats(i) - peak);
      total += weight * stats(i)[plan.tiles.rows];
      for (long d = 0; d < s.dim; ++d) scratch[d] += weight * part(i)[r * s.dim + d];
    }
    scale_row(scratch, s.dim, total > 0.0f ? 1.0f / total : 0.0f, buffers.o + s.q_offset(t.b, t.head, t.row0 + r));
  }
}

void widen_all(const Plan& plan, const Buffers<Bf16>& buffers) {
  const Shape& s = plan.shape;
#pragma omp for schedule(static)
  for (long i = 0; i < s.batch * s.kv_len; ++i) {
    for (long head = 0; head < s.kv_heads; ++head) {
      const long from = (i * s.kv_heads + head) * s.dim;
      const long to = ((i / s.kv_len * s.kv_heads + head) * s.kv_len + i % s.kv_len) * s.dim;
      scale_row(buffers.k + from, s.dim, 1.0f, buffers.wide_keys + to);
      scale_row(buffers.v + from, s.dim, 1.0f, buffers.wide_values + to);
    }
  }
}

template <class T>
whet_int32 run(const WhetCall* call, void* state) {
  const Plan& plan = *static_cast<const Plan*>(state);
  const Buffers<T> buffers(*call, plan);
  const long tasks = long(plan.cut.tasks.size());
  const long merges = long(plan.cut.merges.size());
  const long chunk = std::max(1L, tasks / (16 * plan.shape.threads));
#pragma omp parallel num_threads(plan.shape.threads)
  {
    const Scratch scratch(plan, buffers.workspace, omp_get_thread_num());
    if constexpr (sizeof(T) == sizeof(Bf16)) {
      if (plan.layout.wide > 0) widen_all(plan, buffers);
    }
#pragma omp for schedule(dynamic, chunk)
    for (long i = 0; i < tasks; ++i) run_task(plan, buffers, plan.cut.tasks[i], scratch);
    if (merges > 0) {
#pragma omp for schedule(static)
      for (long i = 0; i < merges; ++i) merge(plan, buffers, plan.cut.merges[i], scratch.out);
    }
  }
  return 0;
}

template <class T>
whet_int32 workspace(const WhetCall* call, whet_uint64* bytes) {
  *bytes = Plan(*call, sizeof(T) == sizeof(Bf16)).workspace_bytes();
  return 0;
}

template <class T>
whet_int32 prepare(const WhetCall* call, void** state) {
  openblas_set_num_threads(1);  // threads are ours: one product each
  *state = new (std::nothrow) Plan(*call, sizeof(T) == sizeof(Bf16));
  return *state == nullptr;
}

void destroy(void* state) { delete static_cast<Plan*>(state); }

constexpr WhetEntry kEntries[] = {
    {"attention_f32", workspace<float>, prepare<float>, run<float>, destroy},
    {"attention_bf16", workspace<Bf16>, prepare<Bf16>, run<Bf16>, destroy}};
constexpr WhetSolution kSolution = {WHET_ABI_VERSION, 2, kEntries};

}  // namespace
}  // namespace composed

extern "C" WHET_EXPORT const WhetSolution* whet_solution_v1(void) { return &composed::kSolution; }

/// Which library computed, and which of its kernels it chose for this processor.
extern "C" WHET_EXPORT const char* whet_solution_notes(void) {
  static char text[256];
  std::snprintf(text, sizeof text, "%s, kernels for %s", openblas_get_config(), openblas_get_corename());
  return text;
}
