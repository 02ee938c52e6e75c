// SPDX-License-Identifier: Apache-2.0
#include <omp.h>

#include <cstdio>
#include <exception>

#include "plan.h"
#include "products.h"
#include "softmax.h"
#include "tiles.h"

namespace composed {
namespace {

constexpr long kTransposeKeys = 256;  // keys of one transposition

/// Bytes, in the order in which the parts lie in the workspace; each a multiple of 64.
struct Layout {
  long queries, logits, out, stats;  // per thread
  long per_thread;
  long part;             // a partial result: output, peak, sum
  long transposed;       // all keys, transposed; 0 where that is not done
  long transposed_stride = 0;  // elements

  Layout(const Shape& s, const Tiles& tiles, bool is_bf16) {
    const long element = is_bf16 ? 2 : 4;
    queries = round_up(tiles.rows * s.dim * element, 64);
    logits = round_up(tiles.rows * tiles.keys * 4, 64);
    out = round_up(tiles.rows * s.dim * 4, 64);
    stats = round_up(2 * tiles.rows * 4, 64);
    per_thread = queries + logits + out + stats;
    part = round_up(tiles.rows * (s.dim + 2) * 4, 64);
    transposed = 0;
    if (transpose_first(s, is_bf16)) {
      // 32 more than needed: at a power of two all rows of the transposed keys would share a few cache sets.
      transposed_stride = round_up(s.kv_len, 32) + 32;
      transposed = round_up(s.batch * s.kv_heads * s.dim * transposed_stride * element, 64);
    }
  }
};

struct Plan {
  Shape shape;
  Tiles tiles;
  Layout layout;
  Cut cut;
  std::vector<Library> libraries;  // by thread

  Plan(const WhetCall& call, bool is_bf16)
      : shape(call), tiles(choose_tiles(shape, is_bf16)), layout(shape, tiles, is_bf16), cut(cut_work(shape, tiles, 256)) {}

  whet_uint64 workspace_bytes() const {
    return whet_uint64(shape.threads * layout.per_thread + cut.parts * layout.part + layout.transposed);
  }
};

struct Scratch {
  void *queries, *logits;
  float *out, *peak, *sum;

  Scratch(const Plan& plan, char* workspace, int thread) {
    const Layout& l = plan.layout;
    char* base = workspace + thread * l.per_thread;
    queries = base;
    logits = base + l.queries;
    out = reinterpret_cast<float*>(base + l.queries + l.logits);
    peak = reinterpret_cast<float*>(base + l.queries + l.logits + l.out);
    sum = peak + plan.tiles.rows;
  }
};

template <class T>
struct Buffers {
  const T *q, *k, *v;
  T *o, *transposed;
  char* workspace;
  char* parts;

  Buffers(const WhetCall& call, const Plan& plan)
      : q(static_cast<const T*>(call.tensors[0].data)), k(static_cast<const T*>(call.tensors[1].data)),
        v(static_cast<const T*>(call.tensors[2].data)), o(static_cast<T*>(call.tensors[3].data)),
        workspace(static_cast<char*>(call.workspace)),
        parts(workspace + plan.shape.threads * plan.layout.per_thread) {
    transposed = reinterpret_cast<T*>(parts + plan.cut.parts * plan.layout.part);
  }
};

long query_stride(const Shape& s) { return s.row_stride() > 0 ? s.row_stride() : s.dim; }

/// queries . keys^T; the result's rows are tiles.keys floats apart.
ProductKey logits_key(const Plan& plan, long rows, long keys) {
  const Shape& s = plan.shape;
  const long stride = plan.layout.transposed_stride;
  return {rows, keys, s.dim, query_stride(s), plan.tiles.keys, stride > 0 ? stride : 1, stride > 0 ? 1 : s.kv_stride(), false};
}

/// weights . values; bfloat16 weights lie in the first half of the row that held the logits.
ProductKey output_key(const Plan& plan, long rows, long keys, bool accumulate) {
  const Shape& s = plan.shape;
  return {rows, s.dim, keys, 2 * plan.tiles.keys, s.dim, s.kv_stride(), 1, accumulate};
}

bool is_tiny(const ProductKey& key) { return key.rows * key.cols * key.depth <= kTinyProduct; }

template <class T>
void multiply_tiny(const ProductKey& key, const T* a, const T* b, float* c) {
  for (long r = 0; r < key.rows; ++r) {
    float* row = c + r * key.c_stride;
    if (!key.accumulate) std::fill(row, row + key.cols, 0.0f);
    if (key.b_col_stride == 1) {
      for (long d = 0; d < key.depth; ++d) {
        const float x = widen(a[r * key.a_stride + d]);
        for (long j = 0; j < key.cols; ++j) row[j] += x * widen(b[d * key.b_row_stride + j]);
      }
      continue;
    }
    for (long j = 0; j < key.cols; ++j) {
      const T* x = a + r * key.a_stride;
      const T* y = b + j * key.b_col_stride;
      Floats sums{};
      long d = 0;
      for (; d + kLanes <= key.depth; d += kLanes) sums += load(x + d) * load(y + d);
      float sum = sum_of(sums);
      for (; d < key.depth; ++d) sum += widen(x[d]) * widen(y[d]);
      row[j] += sum;
    }
  }
}

void multiply_any(Library&, const ProductKey& key, const float* a, const float* b, float* c) {
  const bool transposed = key.b_col_stride != 1;
  multiply(transposed, key.rows, key.cols, key.depth, a, key.a_stride, b, transposed ? key.b_col_stride : key.b_row_stride,
           key.accumulate, c, key.c_stride);
}

void multiply_any(Library& library, const ProductKey& key, const Bf16* a, const Bf16* b, float* c) {
  library.products.find(key)->second->run(library.stream, a, b, c);
}

template <class T>
void product(Library& library, ProductKey key, const T* a, const T* b, float* c) {
  if (is_tiny(key)) {
    multiply_tiny(key, a, b, c);
  } else {
    multiply_any(library, key, a, b, c);
  }
}

template <class T>
const T* queries_of(const Shape& s, const Task& t, const T* q, void* scratch) {
  if (s.row_stride() > 0) return q + s.q_offset(t.b, t.head, t.row0);
  T* to = static_cast<T*>(scratch);
  for (long r = 0; r < t.rows; ++r) std::copy_n(q + s.q_offset(t.b, t.head, t.row0 + r), s.dim, to + r * s.dim);
  return to;
}

template <class T>
void run_task(const Plan& plan, Library& library, const Buffers<T>& buffers, const Task& t, Scratch scratch) {
  const Shape& s = plan.shape;
  if (t.part >= 0) {
    scratch.out = reinterpret_cast<float*>(buffers.parts + t.part * plan.layout.part);
    scratch.peak = scratch.out + plan.tiles.rows * s.dim;
    scratch.sum = scratch.peak + plan.tiles.rows;
  }
  std::fill(scratch.peak, scratch.peak + t.rows, -INFINITY);
  std::fill(scratch.sum, scratch.sum + t.rows, 0.0f);
  if (t.key0 >= t.key1) std::fill(scratch.out, scratch.out + t.rows * s.dim, 0.0f);
  const T* queries = queries_of(s, t, buffers.q, scratch.queries);
  const float factor = s.scale * 1.44269504089f;
  float* logits = static_cast<float*>(scratch.logits);
  T* weights = static_cast<T*>(scratch.logits);
  for (long j = t.key0; j < t.key1; j += plan.tiles.keys) {
    const long count = std::min(plan.tiles.keys, t.key1 - j);
    const T* keys = plan.layout.transposed > 0
                        ? buffers.transposed + (t.b * s.kv_heads + t.head) * s.dim * plan.layout.transposed_stride + j
                        : buffers.k + s.kv_offset(t.b, t.head, j);
    product(library, logits_key(plan, t.rows, count), queries, keys, logits);
    const long stride = plan.tiles.keys * long(sizeof(float) / sizeof(T));
    for (long r = 0; r < t.rows; ++r) {
      const float keep = softmax_row(logits + r * plan.tiles.keys, s.first_key(t.row0 + r) - j, s.end_key(t.row0 + r) - j,
                                     count, factor, weights + r * stride, scratch.peak + r, scratch.sum + r);
      if (j > t.key0 && keep != 1.0f) scale_row(scratch.out + r * s.dim, s.dim, keep, scratch.out + r * s.dim);
    }
    ProductKey key = output_key(plan, t.rows, count, j > t.key0);
    key.a_stride = stride;
    product(library, key, weights, buffers.v + s.kv_offset(t.b, t.head, j), scratch.out);
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
    const auto part = [&](long i) { return reinterpret_cast<float*>(buffers.parts + (t.part + i) * plan.layout.part); };
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

template <class T>
void transpose_keys(const Plan& plan, Library& library, const Buffers<T>& buffers, long i) {
  const Shape& s = plan.shape;
  const long chunks = (s.kv_len + kTransposeKeys - 1) / kTransposeKeys;
  const long head = i / chunks;
  const long j = i % chunks * kTransposeKeys;
  library.transposes.find(std::min(kTransposeKeys, s.kv_len - j))
      ->second->run(library.stream, buffers.k + s.kv_offset(head / s.kv_heads, head % s.kv_heads, j),
                    buffers.transposed + head * s.dim * plan.layout.transposed_stride + j);
}

template <class T>
whet_int32 run(const WhetCall* call, void* state) {
  Plan& plan = *static_cast<Plan*>(state);
  const Shape& s = plan.shape;
  const Buffers<T> buffers(*call, plan);
  const long tasks = long(plan.cut.tasks.size());
  const long merges = long(plan.cut.merges.size());
  const long chunk = std::max(1L, tasks / (16 * s.threads));
  const long transpositions =
      plan.layout.transposed > 0 ? s.batch * s.kv_heads * ((s.kv_len + kTransposeKeys - 1) / kTransposeKeys) : 0;
#pragma omp parallel num_threads(s.threads)
  {
    omp_set_num_threads(1);  // the library asks for it: one product each
    Library& library = plan.libraries[omp_get_thread_num()];
    const Scratch scratch(plan, buffers.workspace, omp_get_thread_num());
    if (transpositions > 0) {
#pragma omp for schedule(dynamic, 1)
      for (long i = 0; i < transpositions; ++i) transpose_keys(plan, library, buffers, i);
    }
#pragma omp for schedule(dynamic, chunk)
    for (long i = 0; i < tasks; ++i) run_task(plan, library, buffers, plan.cut.tasks[i], scratch);
    if (merges > 0) {
#pragma omp for schedule(static)
      for (long i = 0; i < merges; ++i) merge(plan, buffers, plan.cut.merges[i], scratch.out);
    }
  }
  return 0;
}

void add_product(Library& library, const ProductKey& key) {
  if (is_tiny(key)) return;
  auto& slot = library.products[key];
  if (!slot) slot = std::make_unique<Product>(library.engine, key);
}

/// Creates every primitive that the tasks will ask for.
void equip(Plan& plan, Library& library, bool is_bf16) {
  const Shape& s = plan.shape;
  if (plan.layout.transposed > 0) {
    for (long keys : {std::min(kTransposeKeys, s.kv_len), s.kv_len % kTransposeKeys}) {
      if (keys == 0) continue;
      library.transposes[keys] = std::make_unique<Transpose>(library.engine, is_bf16, keys, s.dim, s.kv_stride(),
                                                             plan.layout.transposed_stride);
    }
  }
  if (!is_bf16) return;
  for (const Task& t : plan.cut.tasks) {
    for (long j = t.key0; j < t.key1; j += plan.tiles.keys) {
      const long count = std::min(plan.tiles.keys, t.key1 - j);
      add_product(library, logits_key(plan, t.rows, count));
      add_product(library, output_key(plan, t.rows, count, j > t.key0));
    }
  }
}

template <class T>
whet_int32 workspace(const WhetCall* call, whet_uint64* bytes) {
  *bytes = Plan(*call, sizeof(T) == sizeof(Bf16)).workspace_bytes();
  return 0;
}

template <class T>
whet_int32 prepare(const WhetCall* call, void** state) {
  const int threads = omp_get_max_threads();
  try {
    auto plan = std::make_unique<Plan>(*call, sizeof(T) == sizeof(Bf16));
    omp_set_num_threads(1);  // primitives are laid out for the threads that exist when they are created
    plan->libraries.resize(plan->shape.threads);
    for (Library& library : plan->libraries) equip(*plan, library, sizeof(T) == sizeof(Bf16));
    *state = plan.release();
  } catch (const std::exception& error) {
    std::snprintf(call->message, call->message_bytes, "oneDNN: %s", error.what());
  }
  omp_set_num_threads(threads);
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

/// Which library computed, for which instruction set, and with which kernel a typical bfloat16 product.
extern "C" WHET_EXPORT const char* whet_solution_notes(void) {
  static char text[256];
  try {
    const dnnl_version_t* version = dnnl_version();
    const composed::Product typical(dnnl::engine(dnnl::engine::kind::cpu, 0), {64, 512, 128, 128, 512, 1, 128, false});
    std::snprintf(text, sizeof text, "oneDNN %d.%d.%d, instruction set 0x%x, bfloat16 products by %s, float by dnnl_sgemm",
                  version->major, version->minor, version->patch, unsigned(dnnl::get_effective_cpu_isa()), typical.kernel());
  } catch (const std::exception& error) {
    std::snprintf(text, sizeof text, "oneDNN: %s", error.what());
  }
  return text;
}
