/* SPDX-License-Identifier: Apache-2.0
 *
 * Attention forward on Hopper GPUs (sm_90a): a C API of three calls. Plain C; needs nothing of CUDA to include.
 *
 *     whet_attention_workspace_bytes()  how much device memory a shape wants
 *     whet_attention_plan()             cuts the work into pieces; reads lengths on the host, waits for the stream
 *     whet_attention_run()              queues one or two launches; allocates nothing and does not wait
 *
 * Tensors are dense, row-major, aligned to 16 bytes:
 *     q, o    rows x heads x columns, the rows of all sequences one behind the other
 *     k, v    dense: batch x kv_len x kv_heads x columns; packed: kv_rows x kv_heads x columns; paged: num_pages x page_size x kv_heads x columns
 * Row i of a sequence stands at position i + keys - rows. Query head h reads key head h / (heads / kv_heads).
 */
#ifndef WHET_KERNELS_ATTENTION_H_
#define WHET_KERNELS_ATTENTION_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WHET_ATTENTION_BF16 = 0, WHET_ATTENTION_FP16 = 1, WHET_ATTENTION_E4M3 = 2 };
enum { WHET_ATTENTION_DENSE = 0, WHET_ATTENTION_PACKED = 1, WHET_ATTENTION_PAGED = 2 };

typedef struct WhetAttentionShape {
  int layout, q_type, kv_type;
  int heads, kv_heads, head_dim, v_dim;
  int shared_kv;                      /* values are the first v_dim columns of the keys */
  long long batch, total_q;           /* sequences; query rows of all of them */
  long long max_q, max_k;             /* upper bounds of their lengths; dense: the lengths */
  long long kv_rows;                  /* packed: rows of k and v */
  long long page_size, num_pages, pages_per_seq;
  float scale, softcap;               /* softcap 0: none */
  int causal;
  long long window_left, window_right; /* -1: no limit */
} WhetAttentionShape;

/* On the host, read by plan() only. Null where the layout has none. */
typedef struct WhetAttentionLengths {
  const int *first_q, *first_k; /* batch + 1 cumulative lengths */
  const int* used_k;            /* paged: keys of each sequence */
  const int* first_key;         /* keys before it do not exist (left padding) */
} WhetAttentionLengths;

/* On the device. Null where there is none. */
typedef struct WhetAttentionBuffers {
  const void *q, *k, *v;
  void* o;
  const int* page_table;       /* batch x pages_per_seq */
  const unsigned short* sink;  /* bfloat16, per query head */
  const float *q_descale, *k_descale, *v_descale; /* batch x kv_heads */
} WhetAttentionBuffers;

typedef struct WhetAttentionPlan WhetAttentionPlan;

/* All return null, or a sentence that says what is missing or wrong. `message` (at least 256 bytes) holds it. */
const char* whet_attention_workspace_bytes(const WhetAttentionShape* shape, size_t* bytes, char* message);
/* `workspace`: zeroed device memory, kept unchanged between the runs of this plan. */
const char* whet_attention_plan(const WhetAttentionShape* shape, const WhetAttentionLengths* lengths, void* workspace, void* stream, WhetAttentionPlan** plan, char* message);
const char* whet_attention_run(const WhetAttentionPlan* plan, const WhetAttentionBuffers* buffers, void* stream, char* message);
void whet_attention_destroy(WhetAttentionPlan* plan);

/* The dispatcher's choice in one line: kernel, tile, schedule, pieces, parts. */
const char* whet_attention_describe(const WhetAttentionPlan* plan);

#ifdef __cplusplus
}
#endif
#endif /* WHET_KERNELS_ATTENTION_H_ */
