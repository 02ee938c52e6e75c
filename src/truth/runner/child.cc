// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/child.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "record/verdict.h"
#include "truth/runner/call_frame.h"
#include "truth/runner/conversation.h"
#include "truth/runner/protocol.h"
#include "whet/candidate.h"

namespace whet::runner {
namespace {

constexpr uint64_t kPage = 4096;

// A mapping of a lent buffer, with an inaccessible page on either side.
struct Mapping {
  uint8_t* reserved = nullptr;  // guard page + object + guard page
  uint64_t object_bytes = 0;
  Placement placement;
  bool read_only = false;
  uint8_t* data() const { return reserved + kPage + placement.offset; }
};

struct Lent {
  Layout layout;
  Mapping inputs[kMaxSets][kMaxTensors];
  Mapping outputs[kMaxTensors];
  Mapping workspace;
  bool present = false;
};

// Global because the signal handler reads it.
Bell* bell = nullptr;
Lent lent;

bool contains(const Mapping& mapping, const uint8_t* address) {
  return mapping.reserved && address >= mapping.reserved && address < mapping.reserved + mapping.object_bytes + 2 * kPage;
}

void describe(const Mapping& mapping, int tensor, const uint8_t* address, bool write) {
  const uint8_t* begin = mapping.data();
  const uint8_t* end = begin + mapping.placement.bytes;
  bell->fault_tensor = tensor;
  if (address >= begin && address < end) {
    bell->fault = static_cast<uint32_t>(mapping.read_only && write ? Fault::input_written : Fault::bad_address);
    bell->fault_offset = static_cast<uint64_t>(address - begin);
  } else {
    bell->fault = static_cast<uint32_t>(Fault::out_of_bounds);
    bell->fault_offset = static_cast<uint64_t>(address < begin ? begin - address : address - end + 1);
  }
}

// Says on the shared page what went wrong, and ends the process.
void on_fault(int number, siginfo_t* info, void* context) {
  bell->signal_number = number;
  bell->fault_tensor = -2;
  if (number == SIGSEGV || number == SIGBUS) {
    const auto* address = static_cast<const uint8_t*>(info->si_addr);
#if defined(__x86_64__)
    const bool write = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
    const bool write = true;
    (void)context;
#endif
    bell->fault = static_cast<uint32_t>(Fault::bad_address);
    const int inputs = lent.layout.num_inputs;
    for (int set = 0; set < lent.layout.num_sets; ++set)
      for (int i = 0; i < inputs; ++i)
        if (contains(lent.inputs[set][i], address)) describe(lent.inputs[set][i], i, address, write);
    for (int i = 0; i < lent.layout.num_outputs; ++i)
      if (contains(lent.outputs[i], address)) describe(lent.outputs[i], inputs + i, address, write);
    if (contains(lent.workspace, address)) describe(lent.workspace, -1, address, write);
  }
  // Process 1 of a pid namespace cannot die of a signal that it sends to itself.
  _exit(128 + number);
}

// Maps a lent object between two inaccessible pages; closes the descriptor.
bool map_object(int descriptor, const Placement& placement, bool read_only, Mapping& mapping) {
  const uint64_t whole = placement.object_bytes + 2 * kPage;
  void* reserved = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return false;
  auto* base = static_cast<uint8_t*>(reserved) + kPage;
  const int protection = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
  void* mapped = mmap(base, placement.object_bytes, protection, MAP_SHARED | MAP_FIXED | MAP_POPULATE, descriptor, 0);
  close(descriptor);
  mapping = {static_cast<uint8_t*>(reserved), placement.object_bytes, placement, read_only};
  return mapped != MAP_FAILED;
}

void unmap_object(Mapping& mapping) {
  if (mapping.reserved) munmap(mapping.reserved, mapping.object_bytes + 2 * kPage);
  mapping = {};
}

class Child {
 public:
  explicit Child(SolutionTable& table) : table_(table) {}
  int serve();

 private:
  Reply lend(const Received& received);
  Reply workspace_bytes();
  Reply scratch(const Received& received);
  void turn(const Request& request);
  void release();
  WhetCall call_for(uint32_t set, CallFrame::Use use);

  SolutionTable& table_;
  const WhetEntry* entry_ = nullptr;
  void* state_ = nullptr;
  CallFrame frame_;
};

Reply Child::lend(const Received& received) {
  release();
  if (received.payload.size() != sizeof(Layout)) return failed(Code::machine_failed, "the layout has the wrong size");
  std::memcpy(&lent.layout, received.payload.data(), sizeof(Layout));
  const Layout& layout = lent.layout;
  size_t next = 0;
  for (int set = 0; set < layout.num_sets; ++set)
    for (int i = 0; i < layout.num_inputs; ++i)
      if (!map_object(received.descriptors.at(next++), layout.placement[set][i], true, lent.inputs[set][i]))
        return failed(Code::machine_failed, "an input buffer could not be mapped");
  for (int i = 0; i < layout.num_outputs; ++i)
    if (!map_object(received.descriptors.at(next++), layout.placement[0][layout.num_inputs + i], false, lent.outputs[i]))
      return failed(Code::machine_failed, "an output buffer could not be mapped");
  frame_.lay_out(layout);
  lent.present = true;
  return {};
}

WhetCall Child::call_for(uint32_t set, CallFrame::Use use) {
  std::vector<void*> data;
  for (int i = 0; i < lent.layout.num_inputs; ++i) data.push_back(lent.inputs[set][i].data());
  for (int i = 0; i < lent.layout.num_outputs; ++i) data.push_back(lent.outputs[i].data());
  const bool scratch = lent.workspace.reserved != nullptr;
  return frame_.call(use, data, scratch ? lent.workspace.data() : nullptr, scratch ? lent.workspace.placement.bytes : 0, nullptr);
}

Reply Child::workspace_bytes() {
  Reply reply;
  if (!lent.present || !entry_->workspace_bytes) return reply;
  const WhetCall call = call_for(0, CallFrame::Use::workspace_bytes);
  whet_uint64 bytes = 0;
  add_code(entry_->workspace_bytes(&call, &bytes), reply);
  reply.value = bytes;
  std::snprintf(reply.message, sizeof reply.message, "%s", frame_.message());
  return reply;
}

Reply Child::scratch(const Received& received) {
  Placement placement;
  if (received.payload.size() != sizeof placement || received.descriptors.size() != 1) return failed(Code::machine_failed, "bad workspace message");
  std::memcpy(&placement, received.payload.data(), sizeof placement);
  if (!map_object(received.descriptors[0], placement, false, lent.workspace)) return failed(Code::machine_failed, "the workspace could not be mapped");
  return {};
}

uint64_t sample_of_outputs(uint64_t salt) {
  uint64_t state = 0;
  for (int i = 0; i < lent.layout.num_outputs; ++i) state = sample(state, lent.outputs[i].data(), lent.outputs[i].placement.bytes, salt);
  return state;
}

void Child::turn(const Request& request) {
  const bool preparing = request.op == Op::prepare;
  if (preparing && state_ && entry_->destroy) {
    entry_->destroy(state_);
    state_ = nullptr;
  }
  const WhetCall call = call_for(request.set, preparing ? CallFrame::Use::prepare : CallFrame::Use::run);
  await_go(*bell, request.sequence);
  int32_t code = 0;
  if (request.op == Op::run) code = entry_->run(&call, state_);
  if (request.op == Op::run && code == 0) code = table_.deliver();
  if (preparing && entry_->prepare) code = entry_->prepare(&call, &state_);
  if (request.op == Op::run) bell->sample = sample_of_outputs(request.salt);
  bell->code = code;
  if (code != 0) std::snprintf(bell->message, sizeof bell->message, "%s", frame_.message());
  say_done(*bell, request.sequence);
}

void Child::release() {
  if (state_ && entry_ && entry_->destroy) entry_->destroy(state_);
  state_ = nullptr;
  for (auto& set : lent.inputs)
    for (Mapping& mapping : set) unmap_object(mapping);
  for (Mapping& mapping : lent.outputs) unmap_object(mapping);
  unmap_object(lent.workspace);
  lent.present = false;
}

int Child::serve() {
  Received received;
  while (receive(received)) {
    Reply reply;
    switch (received.request.op) {
      case Op::load: reply = table_.load(received.payload, entry_); break;
      case Op::lend: reply = lend(received); break;
      case Op::workspace: reply = workspace_bytes(); break;
      case Op::scratch: reply = scratch(received); break;
      case Op::lend_set: reply = failed(Code::machine_failed, "more sets are lent to CUDA Solutions only"); break;
      case Op::release:
        add_notes(table_, reply);
        release();
        break;
      case Op::touch:
      case Op::prepare:
      case Op::run: turn(received.request); continue;
    }
    if (!send_reply(reply)) break;
  }
  release();
  return 0;
}

}  // namespace

int run_child(SolutionTable& table, RunnerFilter filter) {
  bell = attach_bell();
  if (!bell) return 3;
  install_fault_handler(on_fault);
  // Below the worker, which must get a core at once when it is woken; still above whatever else runs on this machine.
  (void)setpriority(PRIO_PROCESS, 0, -10);
  if (auto status = enter_runner_filter(filter); !status) {
    send_reply(failed(Code::machine_failed, status.error().what));
    return 3;
  }
  if (!send_reply({})) return 3;
  const int code = Child(table).serve();
  // No destructors of the Solution: it has nothing left to say.
  _exit(code);
}

}  // namespace whet::runner
