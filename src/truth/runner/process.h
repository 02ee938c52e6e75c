// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "record/verdict.h"
#include "sandbox/jail.h"
#include "truth/runner/buffer.h"
#include "truth/runner/protocol.h"

namespace whet {

// What a jailed process needs to use one GPU.
struct RunnerGpu {
  std::string uuid;                       // the only device that it sees: its ordinal is 0
  std::vector<std::string> device_files;  // cuda::device_files()
  std::string driver_folder;              // of libcuda.so.1
};

// What a jailed process needs to run a Solution in Python: the machine's own interpreter, which loads our part of the conversation as a library.
struct RunnerPython {
  std::string executable;            // absolute, no link
  std::vector<std::string> path;     // sys.path
  std::vector<std::string> folders;  // that it reads, outside /usr and /lib
  std::string library;               // whet-python-runner.so
  bool returns_late = false;         // what run() returned is copied into the outputs after its time has been taken: for baselines
};

struct RunnerOptions {
  std::string program;                             // this worker's own executable; re-executed with --runner
  std::string artifact;                            // the shared library
  std::vector<int> cores;                          // what the process is pinned to
  std::map<std::string, std::string> environment;  // whole
  uint64_t memory_bytes = uint64_t{4} << 30;       // of the process, lent buffers not counted
  int max_tasks = 64;                              // threads
  std::optional<RunnerGpu> gpu;                    // a CUDA Solution
  std::optional<RunnerPython> python;              // a Solution in Python; `artifact` is a folder then
  std::chrono::milliseconds load_limit{20000};
  // Whether the process is stopped between turns. Off for CUDA: the driver has threads of its own in it, one of which may hold a lock that other
  // processes' work on the same device waits for; what a Solution queued goes on whatever its host threads do, so stopping them proves less too.
  bool freezes = true;
  // Whether its times count. Else its threads lie where they will, and it goes on as soon as it is thawed: one exchange less.
  bool timed = true;
};

// How long a call took, by the worker's clock: from the word "go" until the worker was woken. Includes the time of waking, which an empty
// turn measures.
struct Turn {
  double ns = 0;
  uint64_t salt = 0, sample = 0;  // run: what the outputs held when it returned; see protocol.h
  // CUDA, as the runner reports them (protocol.h, Bell); negative: not measured.
  double device_ns = -1, host_ns = -1, end_to_end_ns = -1;
  double clock_mhz = 0;
  bool blocked = false;           // it waited for its own work: device_ns is void
  std::chrono::steady_clock::time_point returned;  // when `ns` ended
  uint64_t persisting_bytes = 0;  // it had asked for a part of the last cache
  std::string not_captured;       // graph: why nothing was run
};

// A jailed process that runs one Solution. Between turns it is frozen: no thread of it runs. Every failure of the Solution is a Verdict;
// after one, dead() may be true and the process must be started anew.
class Runner {
 public:
  static Expected<std::unique_ptr<Runner>> start(const RunnerOptions& options);
  ~Runner();

  // The steps, in this order. Each returns a Verdict with Code::correct when it went well.
  // `signature` is for Python: a line per input and output ("q tensor").
  Verdict load(const std::string& definition, const std::string& signature = "");
  Verdict lend(const runner::Layout& layout, const std::vector<std::vector<Buffer*>>& input_sets, const std::vector<Buffer*>& outputs);
  Verdict workspace_bytes(uint64_t& bytes);
  Verdict lend_workspace(Buffer& workspace);
  // The same with device memory: of each buffer the descriptor and where the tensor lies. `lend_set` adds a set with outputs of its own, for bursts.
  Verdict lend(const runner::Layout& layout, const std::vector<int>& descriptors);
  Verdict lend_set(const runner::LentSet& set, const std::vector<int>& descriptors);
  Verdict lend_workspace(const runner::Placement& placement, int descriptor);
  Verdict release();

  // Thaws, waits until the process stands ready, calls `before` (to flush or touch caches), lets it go, waits until it has finished, freezes
  // it. `limit` is for the call itself. `while_held` is called in Mode::held.
  Verdict turn(runner::Op op, uint32_t set, std::chrono::milliseconds limit, const std::function<void()>& before, Turn& result, const runner::Kind& kind = {},
               const std::function<void()>& while_held = nullptr);
  // The CUresult that ended the process; 0: none did. Of an illegal address (700) the worker finds out whose it was by running once more.
  int device_error() const { return device_error_; }

  void freeze();
  void thaw();
  bool dead() const { return dead_; }
  const std::string& notes() const { return notes_; }
  const std::vector<Wall>& walls() const;
  std::string stderr_tail() const;

 private:
  Runner() = default;
  Verdict ask(runner::Op op, const void* payload, size_t bytes, const std::vector<int>& descriptors, std::chrono::milliseconds limit,
              runner::Reply* reply = nullptr);
  bool send(runner::Op op, uint32_t set, const void* payload, size_t bytes, const std::vector<int>& descriptors, const runner::Kind& kind = {});
  Verdict await_word(const std::atomic<uint32_t>& word, std::chrono::milliseconds limit);
  std::optional<Verdict> over_limit();
  Verdict died(const std::string& during);
  void take_report(Turn& result);
  Verdict killed(Code code, const std::string& sentence);

  void place_threads();
  void place(int task, size_t first_core, size_t cores);
  void say_go(std::chrono::steady_clock::time_point begin);

  RunnerOptions options_;
  std::unique_ptr<Jailed> jailed_;
  uint64_t placed_tasks_ = 1;
  std::map<int, uint64_t> on_core_;  // nanoseconds that a thread has had, as last seen
  bool crowded_ = false;       // more threads than cores: who computes is looked at before every call
  int socket_ = -1;
  runner::Bell* bell_ = nullptr;
  uint32_t sequence_ = 0;
  uint64_t salt_ = 0;
  bool frozen_ = false;
  bool dead_ = false;
  int device_error_ = 0;
  std::string notes_;
  std::string during_;
};

}  // namespace whet
