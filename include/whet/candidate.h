/* SPDX-License-Identifier: Apache-2.0
 *
 * candidate.h - the C ABI that a Solution implements. Plain C, includes nothing.
 *
 * A Solution is a shared library that exports one function, whet_solution_v1(). The judge loads it into a jailed
 * process, asks for the table, and calls the entry whose `definition` is the one being judged:
 *
 *     workspace_bytes(call, &n)      how much scratch this call wants; the judge allocates and owns it
 *     prepare(call, &state)          weight packing, planning; timed as the cold path
 *     run(call, state)               the timed call; may be repeated with fresh activations
 *     destroy(state)
 *
 * Promises of the judge to the Solution
 *   - Tensors are dense, row-major, and aligned to 64 bytes. They come in Definition order: inputs, then outputs.
 *   - Axes come in the Definition's order of declaration, scalars in the order of the Definition's scalar inputs
 *     (inputs whose shape is null). Both live on the host.
 *   - In workspace_bytes() no tensor has data. In prepare() only inputs of role `weight` and `plan` have data;
 *     they stay unchanged (same contents; the address may differ) until the next prepare().
 *   - The workspace is aligned to 64 bytes and zeroed before prepare(); its contents are kept between the runs of
 *     that plan. It is at the same address for as long as `state` lives.
 *   - Between calls the process is suspended: threads do not run.
 *
 * Promises of the Solution to the judge
 *   - run() reads its inputs, writes every element of every output, and has finished when it returns: no thread of
 *     it touches any buffer afterwards.
 *   - Inputs are mapped read-only. Nothing outside the buffers is accessed. No process is started, no file written.
 *   - The result depends on the contents of this call's inputs only. Two calls never have equal inputs.
 *   - At most `num_threads` threads compute at once.
 *
 * On a GPU tensors and the workspace are device addresses, and run() queues its work on `stream` instead of doing it: when it returns, all of that work
 * is ordered on `stream` (work on another stream waits for an event of it, and it for an event of that one), and nothing of the call is left for later.
 * run() neither waits for the device nor allocates, and leaves the limits of the context alone. prepare() may wait. Host threads are not suspended.
 */
#ifndef WHET_CANDIDATE_H_
#define WHET_CANDIDATE_H_

#ifdef __cplusplus
extern "C" {
#endif

#define WHET_ABI_VERSION 1

typedef __INT32_TYPE__ whet_int32;
typedef __INT64_TYPE__ whet_int64;
typedef __UINT8_TYPE__ whet_uint8;
typedef __UINT16_TYPE__ whet_uint16;
typedef __UINT32_TYPE__ whet_uint32;
typedef __UINT64_TYPE__ whet_uint64;

/* Element types: DLPack 1.1 codes (DLDataTypeCode). */
enum {
  WHET_DTYPE_INT = 0,
  WHET_DTYPE_UINT = 1,
  WHET_DTYPE_FLOAT = 2,
  WHET_DTYPE_BFLOAT = 4,
  WHET_DTYPE_BOOL = 6,
  WHET_DTYPE_FLOAT8_E4M3FN = 10,
  WHET_DTYPE_FLOAT8_E5M2 = 12,
  WHET_DTYPE_FLOAT4_E2M1FN = 17
};

/* Device types: DLPack codes (DLDeviceType). */
enum { WHET_DEVICE_CPU = 1, WHET_DEVICE_CUDA = 2 };

/* Laid out as DLPack's DLDataType. */
typedef struct WhetDtype {
  whet_uint8 code;
  whet_uint8 bits;
  whet_uint16 lanes;
} WhetDtype;

/* Laid out as DLPack's DLTensor. `strides` is null: tensors are dense and row-major. `byte_offset` is 0. */
typedef struct WhetTensor {
  void* data;
  struct {
    whet_int32 type;
    whet_int32 id;
  } device;
  whet_int32 ndim;
  WhetDtype dtype;
  whet_int64* shape;
  whet_int64* strides;
  whet_uint64 byte_offset;
} WhetTensor;

/* A scalar input. `kind` says which member the Definition declares; the other one holds the same value converted. */
enum { WHET_SCALAR_INT = 0, WHET_SCALAR_FLOAT = 1, WHET_SCALAR_BOOL = 2 };
typedef struct WhetScalar {
  whet_int32 kind;
  whet_int32 reserved;
  whet_int64 i;
  double f;
} WhetScalar;

/* One call. All pointers are valid until the function returns, and no longer. */
typedef struct WhetCall {
  whet_uint32 struct_bytes; /* sizeof(WhetCall) as the judge knows it; fields are only ever appended */
  whet_int32 num_tensors;
  whet_int32 num_inputs; /* tensors[0 .. num_inputs) are inputs, the rest outputs */
  whet_int32 num_axes;
  whet_int32 num_scalars;
  whet_int32 num_threads; /* how many cores the process is pinned to */
  const WhetTensor* tensors;
  const whet_int64* axes;
  const WhetScalar* scalars;
  void* stream; /* a cudaStream_t on a GPU, null on a CPU */
  void* workspace;
  whet_uint64 workspace_bytes;
  char* message; /* a function that returns non-zero may explain itself here, NUL-terminated */
  whet_uint64 message_bytes;
} WhetCall;

/* What workspace_bytes() or prepare() returns for a call that the Solution does not run: of a candidate that is no answer, a baseline is left out of that workload. */
enum { WHET_UNSUPPORTED = -115 };

/* All functions return 0, WHET_UNSUPPORTED, or a code of the Solution's own choosing and a message. Null members: `workspace_bytes` means 0 bytes;
 * `prepare` and `destroy` mean that there is nothing to do. `run` is never null. No C++ exception may leave a function. */
typedef struct WhetEntry {
  const char* definition; /* the Definition's name */
  whet_int32 (*workspace_bytes)(const WhetCall* call, whet_uint64* bytes);
  whet_int32 (*prepare)(const WhetCall* call, void** state);
  whet_int32 (*run)(const WhetCall* call, void* state);
  void (*destroy)(void* state);
} WhetEntry;

typedef struct WhetSolution {
  whet_uint32 abi_version; /* WHET_ABI_VERSION */
  whet_uint32 num_entries;
  const WhetEntry* entries;
} WhetSolution;

#if defined(__GNUC__)
#define WHET_EXPORT __attribute__((visibility("default")))
#else
#define WHET_EXPORT
#endif

WHET_EXPORT const WhetSolution* whet_solution_v1(void);

#ifdef __cplusplus
}
#endif
#endif /* WHET_CANDIDATE_H_ */
