// SPDX-License-Identifier: Apache-2.0
#include "truth/runner/process.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "whet/candidate.h"

namespace whet {
namespace {

using runner::Bell;
using runner::Fault;
using runner::Op;
using runner::Reply;
using runner::Request;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kTick{20};             // how often limits are looked at while a call runs
constexpr milliseconds kControlLimit{20000};  // for everything that is not a timed call
constexpr milliseconds kExitLimit{1000};      // between the end of its connection and its end
constexpr uint64_t kPage = 4096;
// From the word "go" to the start of the call. By then the worker sleeps, and both it and the threads of the Solution find a free core. Measured
// without it: one call in ten of two threads on two cores took 2 ms longer, because its second thread was queued behind the first.
constexpr std::chrono::microseconds kOffTheCore{30};

// What a fault says about the promise that was broken, in Definition order of tensors.
Verdict describe_fault(const Bell& bell, const std::string& during) {
  const auto fault = static_cast<Fault>(bell.fault);
  const std::string buffer = bell.fault_tensor == -1 ? "the workspace" : fmt::format("tensor {} of the call", bell.fault_tensor);
  if (fault == Fault::input_written)
    return {Code::input_written, fmt::format("{}: it wrote to byte {} of {}, an input that is lent read-only", during, bell.fault_offset, buffer), ""};
  if (fault == Fault::out_of_bounds)
    return {Code::out_of_bounds, fmt::format("{}: it touched memory {} bytes outside {}", during, bell.fault_offset, buffer), ""};
  if (fault == Fault::device) return {Code::crashed, fmt::format("{}: the device stopped it: {}", during, std::string(bell.message, strnlen(bell.message, sizeof bell.message))), ""};
  return {};
}

// A GPU is a few device files, the driver's library, and what the driver reads of the machine.
void give_gpu(JailSpec& spec, const RunnerGpu& gpu, bool python) {
  if (spec.argv[1] == "--runner") spec.argv[1] = "--cuda-runner";
  spec.profile = SyscallProfile::gpu_runner;
  spec.devices = gpu.device_files;
  for (const std::string& folder : {gpu.driver_folder, std::string("/sys")})
    if (!folder.empty() && std::filesystem::is_directory(folder)) spec.read_only.push_back({folder, folder});
  spec.limits.open_files = 4096;  // the driver alone opens dozens
  std::string& libraries = spec.environment["LD_LIBRARY_PATH"];
  if (!gpu.driver_folder.empty()) libraries = gpu.driver_folder + (libraries.empty() ? "" : ":" + libraries);
  spec.environment["CUDA_VISIBLE_DEVICES"] = gpu.uuid;
  spec.environment["CUDA_CACHE_DISABLE"] = "1";  // there is no home to keep it in
  if (python && !gpu.driver_folder.empty()) spec.environment["TRITON_LIBCUDA_PATH"] = gpu.driver_folder;  // it would ask ldconfig
  // A kernel that is loaded at its first launch would wait behind the blocker. With Python's libraries of kernels that takes minutes; there a call before the
  // first timed one loads what is needed.
  spec.environment.emplace("CUDA_MODULE_LOADING", python ? "LAZY" : "EAGER");
}

constexpr uint64_t kPythonScratch = uint64_t{2} << 30;

// What libraries keep, or look for in a home, lies in the scratch, which is the working directory wherever it is. The first folder of sys.path would be that
// one, which the Solution can write.
constexpr const char* kStartPython = R"(import ctypes, os, sys
sys.path = [folder for folder in sys.path if folder]
here = os.getcwd()
for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME"): os.environ[name] = here
for name in ("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUPY_CACHE_DIR"): os.environ[name] = here + "/" + name.lower()
ctypes.PyDLL(sys.argv[1]).whet_python_runner(*[ctypes.c_char_p(word.encode()) for word in sys.argv[2:5]])
)";

// An interpreter starts with the same walls as a library, and three things more: its own folders to read, a scratch to write (caches of what it compiles), and the
// filter of RunnerFilter::python, which the library enters before the Solution is imported.
void give_python(JailSpec& spec, const RunnerPython& python, bool on_gpu) {
  const std::string artifact = spec.argv[2];
  spec.argv = {python.executable, "-s", "-c", kStartPython, python.library, artifact, on_gpu ? "cuda" : "cpu", python.returns_late ? "late" : "at once"};
  spec.read_only = {{artifact, artifact}, {python.library, python.library}};
  for (const std::string& folder : python.folders) spec.read_only.push_back({folder, folder});
  spec.scratch_bytes = kPythonScratch;
  spec.limits.open_files = 4096;
  std::string& path = spec.environment["PYTHONPATH"];
  for (const std::string& folder : python.path) path += (path.empty() ? "" : ":") + folder;
  spec.environment["PYTHONDONTWRITEBYTECODE"] = "1";
  spec.environment["PYTHONUNBUFFERED"] = "1";
  spec.environment["PATH"] = "/usr/local/bin:/usr/bin:/bin";  // of the compilers that libraries start
  for (const char* name : {"USER", "LOGNAME"}) spec.environment[name] = "whet";  // there is no /etc/passwd to look it up in
}

}  // namespace

Expected<std::unique_ptr<Runner>> Runner::start(const RunnerOptions& options) {
  auto self = std::unique_ptr<Runner>(new Runner());
  self->options_ = options;
  if (getrandom(&self->salt_, sizeof self->salt_, 0) != sizeof self->salt_) return system_error("getrandom for a runner", errno);
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair for a runner", errno);
  self->socket_ = ends[0];
  // A load sends every tensor's layout at once.
  const int room = 1 << 20;
  setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  const int page = memfd_create("whet-bell", MFD_CLOEXEC);
  if (page < 0 || ftruncate(page, kPage) != 0) return system_error("memfd_create for a runner", errno);
  void* mapped = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
  if (mapped == MAP_FAILED) return system_error("mapping a runner's page", errno);
  self->bell_ = static_cast<Bell*>(mapped);

  JailSpec spec;
  spec.argv = {options.program, "--runner", options.artifact};
  spec.environment = options.environment;
  spec.read_only = {{options.program, options.program}, {options.artifact, options.artifact}};
  spec.output = JailOutput::lossy;  // a Solution that prints must not wait for us
  spec.descriptors = {{ends[1], runner::kSocket}};
  spec.cores = options.cores;
  spec.profile = SyscallProfile::runner;
  spec.limits.memory_bytes = options.memory_bytes;
  // Far above what is allowed, so that the worker sees and names it before the kernel refuses a thread, which reads as a crash.
  spec.limits.processes = 16 * static_cast<uint64_t>(options.max_tasks);
  spec.limits.file_bytes = uint64_t{64} << 20;
  if (options.python) give_python(spec, *options.python, options.gpu.has_value());
  if (options.gpu) give_gpu(spec, *options.gpu, options.python.has_value());
  auto jailed = Jailed::start(spec);
  close(ends[1]);  // else a dead runner would never read as end of file
  if (!jailed) {
    close(page);
    return std::unexpected(std::move(jailed).error());
  }
  self->jailed_ = std::make_unique<Jailed>(std::move(*jailed));

  const Verdict ready = self->ask(Op::touch, nullptr, 0, {page}, std::max(kControlLimit, options.load_limit));
  close(page);
  if (!ready.correct()) return machine_failed("a runner could not be started: {} {}", ready.sentence, ready.evidence);
  self->freeze();
  return self;
}

Runner::~Runner() {
  if (jailed_) jailed_->kill();
  if (bell_) munmap(bell_, kPage);
  if (socket_ >= 0) close(socket_);
}

const std::vector<Wall>& Runner::walls() const { return jailed_->walls(); }
std::string Runner::stderr_tail() const { return jailed_->output(); }

void Runner::freeze() {
  if (dead_ || frozen_ || !options_.freezes) return;
  (void)jailed_->freeze();  // a process that is gone is noticed at the next message
  frozen_ = true;
}

void Runner::thaw() {
  if (dead_ || !frozen_) return;
  (void)jailed_->thaw();
  frozen_ = false;
}

void Runner::place(int task, size_t first_core, size_t cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t i = first_core; i < first_core + cores && i < options_.cores.size(); ++i) CPU_SET(static_cast<size_t>(options_.cores[i]), &set);
  (void)sched_setaffinity(task, sizeof set, &set);  // refused: the scheduler decides, and times scatter more
}

// Threads that live on between calls get a core each; where there are more of them than cores, those that computed most in the last call, and the others go where
// they like (a library's own pool that nobody uses, say). What is started within a call goes where it likes. Left to the scheduler, a frozen process
// wakes with two threads on one core as often as not, and a call then takes 2 ms longer.
void Runner::place_threads() {
  if (options_.cores.size() < 2 || options_.gpu) return;
  place(jailed_->pid(), 0, 1);  // until the call begins
  const std::string folder = fmt::format("/proc/{}/task", jailed_->pid());
  struct stat facts;
  if (stat(folder.c_str(), &facts) != 0 || (facts.st_nlink == placed_tasks_ && !crowded_)) return;
  placed_tasks_ = facts.st_nlink;
  std::vector<std::pair<uint64_t, int>> others;  // nanoseconds on a core since the last look, task
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const int task = std::atoi(entry.path().filename().c_str());
    if (task != jailed_->pid()) others.emplace_back(0, task);
  }
  crowded_ = others.size() >= options_.cores.size();
  if (crowded_)
    for (auto& [spent, task] : others)
      if (auto text = read_file(fmt::format("{}/{}/schedstat", folder, task))) {
        const uint64_t total = std::strtoull(text->c_str(), nullptr, 10);
        spent = total - std::exchange(on_core_[task], total);
      }
  std::sort(others.begin(), others.end(), [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  for (size_t i = 0; i < others.size(); ++i)
    i + 1 < options_.cores.size() ? place(others[i].second, i + 1, 1) : place(others[i].second, 0, options_.cores.size());
}

bool Runner::send(Op op, uint32_t set, const void* payload, size_t bytes, const std::vector<int>& descriptors, const runner::Kind& kind) {
  Request request;
  request.op = op;
  request.set = set;
  request.sequence = sequence_;
  request.payload_bytes = static_cast<uint32_t>(bytes);
  request.salt = salt_;
  request.kind = kind;
  iovec pieces[2] = {{&request, sizeof request}, {const_cast<void*>(payload), bytes}};
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = bytes ? 2 : 1;
  std::vector<char> control(CMSG_SPACE(sizeof(int) * descriptors.size()));
  if (!descriptors.empty()) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(part), descriptors.data(), sizeof(int) * descriptors.size());
  }
  return sendmsg(socket_, &message, MSG_NOSIGNAL) >= 0;
}

Verdict Runner::killed(Code code, const std::string& sentence) {
  jailed_->kill();
  dead_ = true;
  return {code, sentence, stderr_tail()};
}

std::optional<Verdict> Runner::over_limit() {
  if (jailed_->memory_bytes() > options_.memory_bytes)
    return killed(Code::memory_exceeded, fmt::format("{}: it used more than {} MiB of memory", during_, options_.memory_bytes >> 20));
  if (jailed_->task_count() > static_cast<uint64_t>(options_.max_tasks))
    return killed(Code::tasks_exceeded, fmt::format("{}: it started more than {} threads", during_, options_.max_tasks));
  return std::nullopt;
}

Verdict Runner::died(const std::string& during) {
  dead_ = true;
  auto ended = jailed_->wait(kExitLimit);
  if (!ended) return killed(Code::crashed, during + ": " + ended.error().what);
  if (!*ended) return killed(Code::exited, during + ": it closed its connection to the judge");
  const JailExit exit = **ended;
  if (exit.killed_from_outside) return {Code::machine_failed, during + ": the process " + exit.sentence, stderr_tail()};
  if (exit.memory_limit_hit) return {Code::memory_exceeded, during + ": " + exit.sentence, stderr_tail()};
  if (exit.process_limit_hit) return {Code::tasks_exceeded, during + ": " + exit.sentence, stderr_tail()};
  if (!exit.forbidden_syscall.empty())
    return {Code::escaped, fmt::format("{}: it made the system call {}, which a Solution may not make", during, exit.forbidden_syscall), stderr_tail()};
  device_error_ = bell_->device_error;
  if (Verdict verdict = describe_fault(*bell_, during); verdict.code != Code::not_run) {
    verdict.evidence = stderr_tail();
    return verdict;
  }
  // A process that is number 1 of its namespace reports a fault in itself by its exit code.
  const int signal = exit.signal ? exit.signal : bell_->signal_number;
  if (signal != 0) return {Code::crashed, fmt::format("{}: the process died of signal {} ({})", during, signal, strsignal(signal)), stderr_tail()};
  return {Code::exited, fmt::format("{}: {}", during, exit.sentence), stderr_tail()};
}

Verdict Runner::ask(Op op, const void* payload, size_t bytes, const std::vector<int>& descriptors, milliseconds limit, Reply* reply_out) {
  if (dead_) return {Code::machine_failed, "the runner is no longer alive", ""};
  static constexpr const char* kNames[] = {"loading", "lending buffers", "workspace_bytes", "lending the workspace", "prepare", "run", "destroy", "starting", "lending buffers"};
  during_ = kNames[static_cast<size_t>(op)];
  thaw();
  if (!send(op, 0, payload, bytes, descriptors)) return died(during_);
  const auto deadline = Clock::now() + limit;
  for (;;) {
    pollfd waiting = {socket_, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(kTick.count()));
    if (ready > 0) break;
    if (auto verdict = over_limit()) return *verdict;
    if (Clock::now() > deadline) return killed(Code::hung, fmt::format("{}: did not return within {} s", during_, limit.count() / 1000));
  }
  Reply reply;
  const ssize_t got = recv(socket_, &reply, sizeof reply, 0);
  if (got != sizeof reply) return died(during_);
  reply.message[sizeof reply.message - 1] = 0;
  reply.notes[sizeof reply.notes - 1] = 0;
  freeze();
  if (reply.notes[0]) notes_ = reply.notes;
  if (reply_out) *reply_out = reply;
  if (reply.code == 0) return {Code::correct, "", ""};
  const Code code = is_known(reply.code) ? static_cast<Code>(reply.code) : Code::exited;
  if (code == Code::returned_error) return {code, options_.python ? during_ + ": " + reply.message : fmt::format("{} returned the code {}: {}", during_, reply.solution_code, reply.message), stderr_tail()};
  return {code, reply.message, stderr_tail()};
}

Verdict Runner::load(const std::string& definition, const std::string& signature) {
  const std::string wanted = signature.empty() ? definition : definition + "\n" + signature;
  return ask(Op::load, wanted.data(), wanted.size(), {}, options_.load_limit);
}

Verdict Runner::lend(const runner::Layout& layout, const std::vector<std::vector<Buffer*>>& input_sets, const std::vector<Buffer*>& outputs) {
  std::vector<int> descriptors;
  for (const auto& set : input_sets)
    for (const Buffer* buffer : set) descriptors.push_back(buffer->descriptor());
  for (const Buffer* buffer : outputs) descriptors.push_back(buffer->descriptor());
  return lend(layout, descriptors);
}

Verdict Runner::lend(const runner::Layout& layout, const std::vector<int>& descriptors) {
  return ask(Op::lend, &layout, sizeof layout, descriptors, kControlLimit);
}

Verdict Runner::lend_set(const runner::LentSet& set, const std::vector<int>& descriptors) {
  return ask(Op::lend_set, &set, sizeof set, descriptors, kControlLimit);
}

Verdict Runner::workspace_bytes(uint64_t& bytes) {
  Reply reply;
  const Verdict verdict = ask(Op::workspace, nullptr, 0, {}, kControlLimit, &reply);
  bytes = reply.value;
  return verdict;
}

Verdict Runner::lend_workspace(Buffer& workspace) { return lend_workspace(workspace.placement(), workspace.descriptor()); }

Verdict Runner::lend_workspace(const runner::Placement& placement, int descriptor) {
  return ask(Op::scratch, &placement, sizeof placement, {descriptor}, kControlLimit);
}

Verdict Runner::release() { return ask(Op::release, nullptr, 0, {}, kControlLimit); }

// The runner spins on `go`, so that a call starts within a fraction of a microsecond; the worker sleeps on `armed` and `done`, because threads of
// the Solution may want every core.
Verdict Runner::await_word(const std::atomic<uint32_t>& word, milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (uint32_t seen = word.load(std::memory_order_acquire); seen != sequence_; seen = word.load(std::memory_order_acquire)) {
    const timespec tick = {0, kTick.count() * 1000000};
    syscall(SYS_futex, reinterpret_cast<const uint32_t*>(&word), FUTEX_WAIT, seen, &tick, nullptr, 0);
    if (word.load(std::memory_order_acquire) == sequence_) break;
    pollfd hangup = {socket_, POLLIN, 0};
    if (poll(&hangup, 1, 0) > 0 && (hangup.revents & (POLLHUP | POLLERR))) return died(during_);
    if (auto ended = jailed_->poll(); !ended || *ended) return died(during_);
    if (auto verdict = over_limit()) return *verdict;
    if (Clock::now() > deadline) return killed(Code::hung, fmt::format("{} did not return within {} ms", during_, limit.count()));
  }
  return {Code::correct, "", ""};
}

void Runner::take_report(Turn& result) {
  result.device_ns = bell_->device_ns;
  result.host_ns = bell_->host_ns;
  result.end_to_end_ns = bell_->end_to_end_ns;
  result.clock_mhz = bell_->clock_mhz;
  result.blocked = bell_->blocked != 0;
  result.persisting_bytes = bell_->persisting_bytes;
  if (bell_->not_captured) result.not_captured = std::string(bell_->message, strnlen(bell_->message, sizeof bell_->message));
}

void Runner::say_go(Clock::time_point begin) {
  bell_->start_ns.store(static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(begin.time_since_epoch()).count()), std::memory_order_relaxed);
  bell_->go.store(sequence_, std::memory_order_release);
}

Verdict Runner::turn(Op op, uint32_t set, milliseconds limit, const std::function<void()>& before, Turn& result, const runner::Kind& kind,
                     const std::function<void()>& while_held) {
  if (dead_) return {Code::machine_failed, "the runner is no longer alive", ""};
  during_ = op == Op::prepare ? "prepare" : op == Op::run ? "run" : "an empty turn";
  ++sequence_;
  salt_ = salt_ * 6364136223846793005u + 1442695040888963407u;
  const bool ready = options_.timed || options_.gpu;  // it says so first
  if (ready) {
    place_threads();
    thaw();  // before the request: while the main thread is still asleep over its socket, the others get going on their cores
  } else {
    if (before) before();
    say_go({});
  }
  auto begin = Clock::now();
  if (!send(op, set, nullptr, 0, {}, kind)) return died(during_);
  if (!ready) thaw();  // after it, so that it does not go to sleep once more over an empty socket
  if (ready) {
    if (const Verdict armed = await_word(bell_->armed, kControlLimit); !armed.correct()) return armed;
    if (!options_.gpu) place(jailed_->pid(), 0, options_.cores.size());
    if (before) before();
    begin = Clock::now() + kOffTheCore;
    say_go(begin);
  }
  if (kind.mode == runner::Mode::held) {
    if (const Verdict held = await_word(bell_->held, limit); !held.correct()) return held;
    if (while_held) while_held();
    bell_->let_go.store(sequence_, std::memory_order_release);
  }
  const Verdict done = await_word(bell_->done, limit);
  const auto end = Clock::now();
  result.returned = end;
  freeze();
  if (!done.correct()) return done;
  result.salt = salt_;
  result.sample = bell_->sample;
  result.ns = std::chrono::duration<double, std::nano>(end - begin).count();
  if (options_.gpu) take_report(result);
  if (bell_->code != 0) {
    bell_->message[sizeof bell_->message - 1] = 0;
    if (bell_->code == WHET_UNSUPPORTED) return {Code::unsupported, bell_->message, ""};
    if (options_.python) return {Code::returned_error, fmt::format("{}: {}", during_, bell_->message), stderr_tail()};
    return {Code::returned_error, fmt::format("{} returned the code {}: {}", during_, bell_->code, bell_->message), stderr_tail()};
  }
  return {Code::correct, "", ""};
}

}  // namespace whet
