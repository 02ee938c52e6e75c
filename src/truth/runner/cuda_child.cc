// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/cuda_child.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "truth/gpu/bracket.h"
#include "truth/gpu/device_code.h"
#include "truth/runner/call_frame.h"
#include "truth/runner/conversation.h"
#include "truth/runner/lent_device.h"

namespace whet::runner {
namespace {

constexpr int kDeviceErrorExit = 160;

Bell* bell = nullptr;  // the signal handler writes to it

void on_fault(int number, siginfo_t*, void*) {
  bell->signal_number = number;
  bell->fault_tensor = -2;
  _exit(128 + number);
}

double now_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

class CudaChild {
 public:
  static Expected<std::unique_ptr<CudaChild>> make(SolutionTable& table);
  int serve();

 private:
  explicit CudaChild(SolutionTable& table) : table_(table) {}

  Reply lend(const Received& received);
  Reply lend_set(const Received& received);
  Reply workspace_bytes();
  Reply scratch(const Received& received);
  Reply answer(const Received& received);
  void turn(const Request& request);
  void release();
  void forget_plan();

  WhetCall call_for(uint32_t set, CallFrame::Use use) { return frame_.call(use, lent_->pointers(set), lent_->workspace(), lent_->workspace_bytes(), stream_); }
  int32_t prepare(const Request& request);
  int32_t run(const Request& request);
  void time_nothing();
  void flush_only(uint32_t count);
  int32_t run_once(const Request& request);
  int32_t run_end_to_end(const Request& request);
  int32_t run_burst(const Request& request);
  int32_t run_and_deliver(const WhetCall& call);
  bool capture(uint32_t set, int32_t& code);
  void set_caches(const Request& request);
  void look_after(const Request& request);
  void need(const Status& status);
  void need(cuda::Result result, const char* phase);

  SolutionTable& table_;
  std::unique_ptr<DeviceCode> code_;
  cuda::Stream stream_ = nullptr;
  Bracket bracket_;
  std::optional<LentDevice> lent_;
  const WhetEntry* entry_ = nullptr;
  void* state_ = nullptr;
  CallFrame frame_;
  bool laid_out_ = false;
  std::map<uint32_t, cuda::GraphExec> graphs_;  // by set; of this plan
};

Expected<std::unique_ptr<CudaChild>> CudaChild::make(SolutionTable& table) {
  auto self = std::unique_ptr<CudaChild>(new CudaChild(table));
  WHET_TRY(self->code_, DeviceCode::open(0));
  const cuda::Driver& driver = self->code_->driver();
  // Ordered with the legacy stream, so that what an honest Solution launches there by default is part of the call.
  WHET_OK(driver.check(driver.stream_create(&self->stream_, cuda::kStreamDefault), "making a stream"));
  WHET_TRY(self->bracket_, Bracket::make(*self->code_, self->stream_));
  self->lent_.emplace(*self->code_);
  return self;
}

// A sticky error, or one of our own calls that failed because of one: nothing more can be done in this context, so the process ends. What the
// device says is told first.
void CudaChild::need(cuda::Result result, const char* phase) {
  if (result == cuda::kSuccess) return;
  std::snprintf(bell->message, sizeof bell->message, "%s: %s", phase, code_->driver().describe(result).c_str());
  bell->device_error = result;
  bell->fault_tensor = -2;
  bell->fault = static_cast<uint32_t>(Fault::device);
  _exit(kDeviceErrorExit);
}

void CudaChild::need(const Status& status) {
  if (status) return;
  // Which CUresult it was: the context remembers.
  need(code_->driver().synchronize(), status.error().what.c_str());
  std::snprintf(bell->message, sizeof bell->message, "%s", status.error().what.c_str());
  bell->fault_tensor = -2;
  bell->fault = static_cast<uint32_t>(Fault::device);
  _exit(kDeviceErrorExit);
}

Reply CudaChild::lend(const Received& received) {
  release();
  if (received.payload.size() != sizeof(Layout)) return failed(Code::machine_failed, "the layout has the wrong size");
  auto layout = std::make_unique<Layout>();
  std::memcpy(layout.get(), received.payload.data(), sizeof(Layout));
  if (auto status = lent_->lend(*layout, received.descriptors); !status) return failed(Code::machine_failed, status.error().what);
  frame_.lay_out(*layout);
  laid_out_ = true;
  return {};
}

Reply CudaChild::lend_set(const Received& received) {
  LentSet lent;
  if (received.payload.size() != sizeof lent) return failed(Code::machine_failed, "the set has the wrong size");
  std::memcpy(&lent, received.payload.data(), sizeof lent);
  if (auto status = lent_->lend_set(lent, received.descriptors); !status) return failed(Code::machine_failed, status.error().what);
  return {};
}

Reply CudaChild::workspace_bytes() {
  Reply reply;
  if (!laid_out_ || !entry_ || !entry_->workspace_bytes) return reply;
  const WhetCall call = call_for(0, CallFrame::Use::workspace_bytes);
  whet_uint64 bytes = 0;
  add_code(entry_->workspace_bytes(&call, &bytes), reply);
  reply.value = bytes;
  std::snprintf(reply.message, sizeof reply.message, "%s", frame_.message());
  return reply;
}

Reply CudaChild::scratch(const Received& received) {
  Placement placement;
  if (received.payload.size() != sizeof placement || received.descriptors.size() != 1) return failed(Code::machine_failed, "bad workspace message");
  std::memcpy(&placement, received.payload.data(), sizeof placement);
  if (auto status = lent_->lend_workspace(placement, received.descriptors[0]); !status) return failed(Code::machine_failed, status.error().what);
  return {};
}

void CudaChild::forget_plan() {
  for (const auto& [set, graph] : graphs_) (void)code_->driver().graph_exec_destroy(graph);
  graphs_.clear();
  if (state_ && entry_ && entry_->destroy) entry_->destroy(state_);
  state_ = nullptr;
}

void CudaChild::release() {
  forget_plan();
  (void)code_->driver().synchronize();
  lent_->release();
  laid_out_ = false;
}

int32_t CudaChild::prepare(const Request& request) {
  if (!entry_->prepare) return 0;
  const WhetCall call = call_for(request.set, CallFrame::Use::prepare);
  const double begin = now_ns();
  const int32_t code = entry_->prepare(&call, &state_);
  bell->host_ns = now_ns() - begin;
  need(code_->driver().synchronize(), "prepare");
  bell->end_to_end_ns = now_ns() - begin;
  return code;
}

void CudaChild::set_caches(const Request& request) {
  if (request.kind.caches == CacheState::flushed) need(bracket_.flush());
  if (request.kind.caches == CacheState::resident) need(bracket_.touch(lent_->inputs(request.set)));
}

// run() once into a graph that is launched from then on. What a Solution does that cannot be captured is its right: it is said and not run.
bool CudaChild::capture(uint32_t set, int32_t& code) {
  if (graphs_.count(set)) return true;
  const cuda::Driver& driver = code_->driver();
  const auto refused = [&](const char* step, cuda::Result result) {
    bell->not_captured = 1;
    std::snprintf(bell->message, sizeof bell->message, "%s: %s", step, driver.describe(result).c_str());
    return false;
  };
  need(driver.begin_capture(stream_, cuda::kCaptureRelaxed), "beginning a capture");
  const WhetCall call = call_for(set, CallFrame::Use::run);
  code = run_and_deliver(call);
  cuda::Graph graph = nullptr;
  const cuda::Result ended = driver.end_capture(stream_, &graph);
  if (ended != cuda::kSuccess) return refused("run() cannot be captured into a graph", ended);
  cuda::GraphExec exec = nullptr;
  const cuda::Result made = driver.graph_instantiate(&exec, graph, 0);
  (void)driver.graph_destroy(graph);
  if (made != cuda::kSuccess) return refused("the graph of run() cannot be instantiated", made);
  graphs_[set] = exec;
  return true;
}

// What two events say of nothing between them.
void CudaChild::time_nothing() {
  need(bracket_.block());
  need(bracket_.begin());
  need(bracket_.end());
  bracket_.release();
  need(bracket_.finish(), "an empty turn");
  bell->device_ns = bracket_.device_ns();
}

// What the flushes between the runs of a burst take by themselves.
void CudaChild::flush_only(uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) need(bracket_.flush());
  need(bracket_.finish(), "flushing");
}

// Modes device, held and graph.
int32_t CudaChild::run_once(const Request& request) {
  const bool as_graph = request.kind.mode == Mode::graph;
  int32_t code = 0;
  if (as_graph && (!capture(request.set, code) || code != 0)) return code;
  const WhetCall call = call_for(request.set, CallFrame::Use::run);
  set_caches(request);
  need(bracket_.block());
  need(bracket_.begin());
  const double begin = now_ns();
  cuda::Result launched = cuda::kSuccess;
  if (as_graph) launched = code_->driver().graph_launch(graphs_[request.set], stream_);
  else code = entry_->run(&call, state_);
  bell->host_ns = now_ns() - begin;
  // The blocker must be let go even if the context is broken already: else its second passes first.
  const Status ended = bracket_.end();
  if (!as_graph && code == 0) code = table_.deliver();
  const Status sampled = bracket_.sample(lent_->outputs(request.set), request.salt);
  if (request.kind.mode == Mode::held) await_look(*bell, request.sequence);
  bracket_.release();
  need(launched, "launching the graph of run()");
  need(ended);
  need(sampled);
  need(bracket_.finish(), "run");
  bell->sample = bracket_.sampled();
  bell->device_ns = bracket_.device_ns();
  bell->clock_mhz = bracket_.clock_mhz();
  bell->blocked = bracket_.gave_up();
  return code;
}

int32_t CudaChild::run_end_to_end(const Request& request) {
  const WhetCall call = call_for(request.set, CallFrame::Use::run);
  set_caches(request);
  need(bracket_.finish(), "before run");
  const double begin = now_ns();
  const int32_t code = run_and_deliver(call);
  const double returned = now_ns();
  need(bracket_.finish(), "run");
  bell->end_to_end_ns = now_ns() - begin;
  bell->host_ns = returned - begin;
  need(bracket_.sample(lent_->outputs(request.set), request.salt));
  need(bracket_.finish(), "run");
  bell->sample = bracket_.sampled();
  return code;
}

// Where it is not the events that time it.
int32_t CudaChild::run_and_deliver(const WhetCall& call) {
  const int32_t code = entry_->run(&call, state_);
  return code == 0 ? table_.deliver() : code;
}

// Nothing between the runs but flushes, if they are asked for; the outputs are looked at by the worker, all of them.
int32_t CudaChild::run_burst(const Request& request) {
  const double begin = now_ns();
  int32_t code = 0;
  for (uint32_t i = 0; i < request.kind.count && code == 0; ++i) {
    const WhetCall call = call_for(request.set + i, CallFrame::Use::run);
    if (request.kind.caches == CacheState::flushed) need(bracket_.flush());
    code = run_and_deliver(call);
  }
  bell->host_ns = now_ns() - begin;
  need(bracket_.finish(), "a burst of runs");
  bell->end_to_end_ns = now_ns() - begin;
  return code;
}

int32_t CudaChild::run(const Request& request) {
  switch (request.kind.mode) {
    case Mode::end_to_end: return run_end_to_end(request);
    case Mode::burst: return run_burst(request);
    case Mode::device:
    case Mode::held:
    case Mode::graph: break;
  }
  return run_once(request);
}

// After each run: a fault of a side stream, and whether the Solution asked for a part of the last cache.
void CudaChild::look_after(const Request&) {
  need(code_->driver().synchronize(), "after run, on another stream");
  bell->persisting_bytes = bracket_.persisting_bytes();
  if (bell->persisting_bytes != 0) need(bracket_.forbid_persisting());
}

void CudaChild::turn(const Request& request) {
  if (request.op == Op::prepare) forget_plan();
  const uint32_t sets = request.op == Op::run && request.kind.mode == Mode::burst ? request.kind.count : 1;
  bool lent = entry_ && laid_out_;
  for (uint32_t i = 0; i < sets && lent; ++i) lent = lent_->has_set(request.set + i);
  bell->device_ns = bell->host_ns = bell->end_to_end_ns = -1;
  bell->clock_mhz = 0;
  bell->persisting_bytes = 0;
  bell->blocked = bell->not_captured = 0;
  await_go(*bell, request.sequence);
  int32_t code = 0;
  if (request.op != Op::touch && !lent) {
    std::snprintf(bell->message, sizeof bell->message, "the judge asks for a set that it has not lent");
    code = -1;
  } else if (request.op == Op::touch) {
    if (request.kind.mode == Mode::burst) flush_only(request.kind.count);
    else time_nothing();
  } else if (request.op == Op::prepare) {
    code = prepare(request);
  } else if (request.op == Op::run) {
    code = run(request);
    look_after(request);
  }
  bell->code = code;
  if (code != 0 && lent) std::snprintf(bell->message, sizeof bell->message, "%s", frame_.message());
  say_done(*bell, request.sequence);
}

Reply CudaChild::answer(const Received& received) {
  switch (received.request.op) {
    case Op::load: return table_.load(received.payload, entry_);
    case Op::lend: return lend(received);
    case Op::lend_set: return lend_set(received);
    case Op::workspace: return workspace_bytes();
    case Op::scratch: return scratch(received);
    default: break;
  }
  Reply reply;
  add_notes(table_, reply);
  release();
  return reply;
}

int CudaChild::serve() {
  Received received;
  while (receive(received)) {
    const Op op = received.request.op;
    if (op == Op::touch || op == Op::prepare || op == Op::run) turn(received.request);
    else if (!send_reply(answer(received))) break;
  }
  return 0;
}

}  // namespace

int run_cuda_child(SolutionTable& table, RunnerFilter filter) {
  bell = attach_bell();
  if (!bell) return 3;
  install_fault_handler(on_fault);
  (void)setpriority(PRIO_PROCESS, 0, -10);  // below the worker; refused without privilege
  // All that the driver does once is done before the filter stands.
  auto child = CudaChild::make(table);
  if (!child) {
    send_reply(failed(Code::machine_failed, child.error().what));
    return 3;
  }
  if (auto status = enter_runner_filter(filter); !status) {
    send_reply(failed(Code::machine_failed, status.error().what));
    return 3;
  }
  if (!send_reply({})) return 3;
  // No destructors, of the Solution's or of the run time's: the process has nothing left to say.
  _exit((*child)->serve());
}

}  // namespace whet::runner
