// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

// What the worker and a runner say to each other. The worker believes none of it except that a call has come to an end: what the runner
// reports only chooses the words of a Verdict against its own Solution.
namespace whet::runner {

constexpr int kSocket = 3;    // descriptor of the control socket (SOCK_SEQPACKET) inside the jail
constexpr int kMaxTensors = 64;
constexpr int kMaxSets = 3;   // sets of input buffers, so that an address recurs only every third draw
constexpr int kMaxLentSets = 256;  // with those that lend_set adds: each has inputs and outputs of its own
constexpr int kMaxMessage = 1024;
constexpr int kMaxNotes = 512;

enum class Op : uint32_t {
  load,       // payload: the Definition's name. dlopen, table, entry
  lend,       // payload: Layout; descriptors: sets x inputs, outputs
  workspace,  // how many bytes of workspace for this call
  scratch,    // descriptor of the workspace; payload: its Placement
  prepare,    // turn; payload: set
  run,        // turn; payload: set
  release,    // destroy the state, unmap everything lent
  touch,      // nothing but an answer; as a first message it carries the shared page; as a turn it runs no Solution
  lend_set,   // CUDA: payload: LentSet; descriptors: its inputs, its outputs
};

// What a CUDA runner does before a run, and how it runs. A CPU runner ignores both: there the worker sees to the caches.
enum class CacheState : uint8_t { as_they_are, flushed, resident };
enum class Mode : uint8_t {
  device,      // behind a blocker, between two events: device_ns and host_ns
  end_to_end,  // from before the call until the stream is idle, by the runner's clock: end_to_end_ns
  graph,       // as `device`, of a graph into which run() was captured once per plan and set
  burst,       // `count` runs one after the other, on the sets from `set` on, then a wait; the worker's clock times it. With CacheState::flushed a flush stands
               // before each. As a turn of Op::touch: the flushes alone
  held,        // as `device`, but the stream stays held after run() has returned, until the worker has looked at the outputs
};
struct Kind {
  CacheState caches = CacheState::as_they_are;
  Mode mode = Mode::device;
  uint16_t count = 1;
  uint32_t reserved = 0;
};

// Where a tensor lies in its memory object.
struct Placement {
  uint64_t object_bytes = 0;  // a multiple of the page size
  uint64_t offset = 0;        // of the first element; a multiple of 64
  uint64_t bytes = 0;
};

struct WireTensor {
  int32_t ndim = 0;
  uint8_t dtype_code = 0, dtype_bits = 0;
  uint8_t prepared = 0;   // weight or plan: has data in prepare()
  uint8_t reserved = 0;
  int64_t shape[8] = {};
};

struct WireScalar {
  int32_t kind = 0, reserved = 0;
  int64_t i = 0;
  double f = 0;
};

struct Layout {
  int32_t num_inputs = 0, num_outputs = 0, num_axes = 0, num_scalars = 0, num_sets = 0, num_threads = 0;
  int64_t axes[kMaxTensors] = {};
  WireScalar scalars[kMaxTensors] = {};
  WireTensor tensors[kMaxTensors] = {};
  Placement placement[kMaxSets][kMaxTensors] = {};  // inputs per set; outputs in set 0
  int32_t device = 1;          // WHET_DEVICE_CPU or WHET_DEVICE_CUDA
  int32_t inputs_writable = 0; // CUDA: inputs are copies of the worker's, to find out who writes to them
};

struct LentSet {
  int32_t set = 0, reserved = 0;  // from num_sets on
  Placement placement[kMaxTensors] = {};
};

enum class Fault : uint32_t { none, input_written, out_of_bounds, bad_address, device };

struct Request {
  Op op = Op::load;
  uint32_t set = 0;
  uint32_t sequence = 0;
  uint32_t payload_bytes = 0;  // follows
  uint64_t salt = 0;           // run: of the sample
  Kind kind;                   // run
};

struct Reply {
  int32_t code = 0;            // 0, a Code of Verdict (positive), or a Solution's own code in `solution_code`
  int32_t solution_code = 0;
  uint64_t value = 0;
  char message[kMaxMessage] = {};
  char notes[kMaxNotes] = {};
};

// One shared page. A turn: the worker sends prepare/run, the runner sets armed = sequence and spins on `go`; the worker flushes, sets
// start_ns and go, and goes to sleep; the time runs from start_ns; the runner calls the Solution, sets done = sequence and wakes the worker.
struct Bell {
  std::atomic<uint32_t> armed;
  std::atomic<uint32_t> go;
  std::atomic<uint64_t> start_ns;  // CLOCK_MONOTONIC: when the call begins; set before `go`
  alignas(64) std::atomic<uint32_t> done;
  int32_t code;                // as in Reply
  uint64_t sample;             // of the outputs when run() returned
  alignas(64) uint32_t fault;  // written by the runner's signal handler
  int32_t signal_number;
  uint64_t fault_offset;       // bytes from the start of the buffer (out of bounds: from its end or start, see `fault_tensor`)
  int32_t fault_tensor;        // index in Definition order, -1 workspace, -2 none
  char message[kMaxMessage];
  // CUDA. Like all that a runner says, believed only as far as the worker's own clock bears it out.
  std::atomic<uint32_t> held;    // Mode::held: run() has returned, the stream is held
  std::atomic<uint32_t> let_go;  // ... and the worker has looked
  double device_ns, host_ns, end_to_end_ns, clock_mhz;  // negative: not measured
  uint64_t persisting_bytes;   // carve-out for persisting lines that was found after the run, and taken away
  uint32_t blocked;            // the blocker gave up: the Solution waited for its own work within run()
  uint32_t not_captured;       // graph: it could not be captured, nothing was run, `message` says why
  int32_t device_error;        // CUresult that ended the process
};
static_assert(sizeof(Bell) <= 4096);

// Folds a few elements of an output, at places that `salt` chooses, into `state`. Taken by the runner at the moment when run() returns and by the
// worker when nothing runs any more: who still writes in between, before the process has been stopped, makes them differ.
inline uint64_t sample(uint64_t state, const uint8_t* data, uint64_t bytes, uint64_t salt) {
  constexpr uint64_t kPlaces = 32;
  const uint64_t words = bytes / 8;
  for (uint64_t i = 0; i < kPlaces && words > 0; ++i) {
    const uint64_t dice = (salt + i) * 0x9e3779b97f4a7c15u;
    const uint64_t place = words <= kPlaces ? i % words : (dice >> 32) * words >> 32;  // fewer than 2^32 words: 32 GiB
    uint64_t word;
    std::memcpy(&word, data + 8 * place, 8);
    state = (state ^ word) * 0xff51afd7ed558ccdu;
    state ^= state >> 32;
  }
  for (uint64_t i = 8 * words; i < bytes; ++i) state = (state ^ data[i]) * 0xff51afd7ed558ccdu;
  return state;
}

}  // namespace whet::runner
