// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "record/verdict.h"
#include "sandbox/runner_filter.h"
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

void install_handlers() {
  static char stack[64 * 1024];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof stack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
}

struct Received {
  Request request;
  std::string payload;
  std::vector<int> descriptors;
};

bool receive(Received& received) {
  static std::vector<char> buffer(1 << 20);
  alignas(cmsghdr) static char control[CMSG_SPACE(sizeof(int) * 250)];
  iovec piece = {buffer.data(), buffer.size()};
  msghdr message = {};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = recvmsg(kSocket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < static_cast<ssize_t>(sizeof(Request))) return false;
  std::memcpy(&received.request, buffer.data(), sizeof(Request));
  received.payload.assign(buffer.data() + sizeof(Request), static_cast<size_t>(got) - sizeof(Request));
  received.descriptors.clear();
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    const size_t old = received.descriptors.size();
    received.descriptors.resize(old + count);
    std::memcpy(received.descriptors.data() + old, CMSG_DATA(part), count * sizeof(int));
  }
  return true;
}

bool send_reply(const Reply& reply) { return send(kSocket, &reply, sizeof reply, MSG_NOSIGNAL) == sizeof reply; }

Reply failed(Code code, const std::string& message) {
  Reply reply;
  reply.code = static_cast<int>(code);
  std::snprintf(reply.message, sizeof reply.message, "%s", message.c_str());
  return reply;
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
  explicit Child(const char* artifact) : artifact_(artifact) {}
  int serve();

 private:
  Reply load(const std::string& definition);
  Reply lend(const Received& received);
  Reply workspace_bytes();
  Reply scratch(const Received& received);
  void turn(const Request& request);
  void release();
  WhetCall call_for(uint32_t set, bool with_data, bool preparing);

  const char* artifact_;
  const WhetEntry* entry_ = nullptr;
  void* state_ = nullptr;
  std::vector<WhetTensor> tensors_;
  std::vector<WhetScalar> scalars_;
  char message_[kMaxMessage] = {};
};

Reply Child::load(const std::string& definition) {
  void* library = dlopen(artifact_, RTLD_NOW | RTLD_LOCAL);
  if (!library) return failed(Code::load_failed, dlerror());
  auto* table_function = reinterpret_cast<const WhetSolution* (*)()>(dlsym(library, "whet_solution_v1"));
  if (!table_function) return failed(Code::entry_missing, "the shared library does not export whet_solution_v1");
  const WhetSolution* table = table_function();
  if (!table || table->abi_version != WHET_ABI_VERSION || !table->entries || table->num_entries > 4096)
    return failed(Code::abi_mismatch, "whet_solution_v1() returned no table of ABI version " + std::to_string(WHET_ABI_VERSION));
  std::string found;
  for (uint32_t i = 0; i < table->num_entries; ++i) {
    const WhetEntry& entry = table->entries[i];
    if (!entry.definition || !entry.run) return failed(Code::abi_mismatch, "an entry of the table has no definition or no run function");
    if (definition == entry.definition) entry_ = &entry;
    found += (i ? ", " : "") + std::string(entry.definition);
  }
  if (!entry_) return failed(Code::definition_missing, "the table has entries for " + (found.empty() ? "nothing" : found) + ", none for " + definition);
  Reply reply;
  if (auto* notes = reinterpret_cast<const char* (*)()>(dlsym(library, "whet_solution_notes"))) {
    if (const char* text = notes()) std::snprintf(reply.notes, sizeof reply.notes, "%s", text);
  }
  return reply;
}

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
  tensors_.resize(static_cast<size_t>(layout.num_inputs + layout.num_outputs));
  scalars_.resize(static_cast<size_t>(layout.num_scalars));
  lent.present = true;
  return {};
}

WhetCall Child::call_for(uint32_t set, bool with_data, bool preparing) {
  Layout& layout = lent.layout;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    WireTensor& wire = layout.tensors[i];
    WhetTensor& tensor = tensors_[i];
    const bool is_input = static_cast<int>(i) < layout.num_inputs;
    const Mapping& mapping = is_input ? lent.inputs[set][i] : lent.outputs[i - static_cast<size_t>(layout.num_inputs)];
    const bool has_data = with_data && (!preparing || (is_input && wire.prepared));
    tensor = {};
    tensor.data = has_data ? mapping.data() : nullptr;
    tensor.device.type = WHET_DEVICE_CPU;
    tensor.ndim = wire.ndim;
    tensor.dtype = {wire.dtype_code, wire.dtype_bits, 1};
    tensor.shape = wire.shape;
  }
  for (size_t i = 0; i < scalars_.size(); ++i) scalars_[i] = {layout.scalars[i].kind, 0, layout.scalars[i].i, layout.scalars[i].f};
  WhetCall call = {};
  call.struct_bytes = sizeof call;
  call.num_tensors = layout.num_inputs + layout.num_outputs;
  call.num_inputs = layout.num_inputs;
  call.num_axes = layout.num_axes;
  call.num_scalars = layout.num_scalars;
  call.num_threads = layout.num_threads;
  call.tensors = tensors_.data();
  call.axes = reinterpret_cast<const whet_int64*>(layout.axes);
  call.scalars = scalars_.data();
  if (lent.workspace.reserved) {
    call.workspace = lent.workspace.data();
    call.workspace_bytes = lent.workspace.placement.bytes;
  }
  message_[0] = 0;
  call.message = message_;
  call.message_bytes = sizeof message_;
  return call;
}

Reply Child::workspace_bytes() {
  Reply reply;
  if (!lent.present || !entry_->workspace_bytes) return reply;
  const WhetCall call = call_for(0, false, false);
  whet_uint64 bytes = 0;
  reply.solution_code = entry_->workspace_bytes(&call, &bytes);
  reply.value = bytes;
  if (reply.solution_code != 0) reply.code = static_cast<int>(Code::returned_error);
  message_[sizeof message_ - 1] = 0;
  std::snprintf(reply.message, sizeof reply.message, "%s", message_);
  return reply;
}

Reply Child::scratch(const Received& received) {
  Placement placement;
  if (received.payload.size() != sizeof placement || received.descriptors.size() != 1) return failed(Code::machine_failed, "bad workspace message");
  std::memcpy(&placement, received.payload.data(), sizeof placement);
  if (!map_object(received.descriptors[0], placement, false, lent.workspace)) return failed(Code::machine_failed, "the workspace could not be mapped");
  return {};
}

void futex_wake(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE, 1, nullptr, nullptr, 0);
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
  const WhetCall call = call_for(request.set, true, preparing);
  bell->armed.store(request.sequence, std::memory_order_release);
  futex_wake(bell->armed);
  // Ready at once when the word comes, and yet out of the way of the worker, who may need this core to say it.
  for (uint32_t looks = 1; bell->go.load(std::memory_order_acquire) != request.sequence; ++looks) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (looks % 64 == 0) sched_yield();
  }
  // The worker needs a moment to get off the core on which it said so; until then the scheduler would put a thread that we wake behind us.
  const uint64_t start = bell->start_ns.load(std::memory_order_relaxed);
  timespec now;
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec) < start);
  int32_t code = 0;
  if (request.op == Op::run) code = entry_->run(&call, state_);
  if (preparing && entry_->prepare) code = entry_->prepare(&call, &state_);
  if (request.op == Op::run) bell->sample = sample_of_outputs(request.salt);
  bell->code = code;
  if (code != 0) {
    message_[sizeof message_ - 1] = 0;
    std::memcpy(bell->message, message_, sizeof message_);
  }
  bell->done.store(request.sequence, std::memory_order_release);
  futex_wake(bell->done);
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
      case Op::load: reply = load(received.payload); break;
      case Op::lend: reply = lend(received); break;
      case Op::workspace: reply = workspace_bytes(); break;
      case Op::scratch: reply = scratch(received); break;
      case Op::release: release(); break;
      case Op::touch:
      case Op::prepare:
      case Op::run: turn(received.request); continue;
    }
    if (!send_reply(reply)) break;
  }
  release();
  return 0;
}

// The first message carries the shared page.
bool attach_bell() {
  Received received;
  if (!receive(received) || received.descriptors.size() != 1) return false;
  void* page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, received.descriptors[0], 0);
  close(received.descriptors[0]);
  if (page == MAP_FAILED) return false;
  bell = static_cast<Bell*>(page);
  return true;
}

}  // namespace

int run_child(const char* artifact) {
  if (!attach_bell()) return 3;
  install_handlers();
  // Below the worker, which must get a core at once when it is woken; still above whatever else runs on this machine.
  (void)setpriority(PRIO_PROCESS, 0, -10);
  if (auto status = enter_runner_filter(); !status) {
    send_reply(failed(Code::machine_failed, status.error().what));
    return 3;
  }
  if (!send_reply({})) return 3;
  const int code = Child(artifact).serve();
  // No destructors of the Solution: it has nothing left to say.
  _exit(code);
}

}  // namespace whet::runner
