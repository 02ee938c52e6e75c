// SPDX-License-Identifier: Apache-2.0
#include "wire/client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/json_impl.h"
#include "wire/lines.h"
#include "wire/message.h"
#include "wire/spawn.h"
#include "wire/ssh.h"

namespace whet {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kStderrKept = 16 << 10;
constexpr milliseconds kTimeToLeave{2000};

class PipedWorker : public WorkerClient {
 public:
  // `elsewhere`: the address of a worker behind ssh, whose process is then the ssh; empty for a local one.
  PipedWorker(WorkerProcess process, Descriptor wake, std::string elsewhere)
      : process_(std::move(process)), wake_(std::move(wake)), elsewhere_(std::move(elsewhere)) {}
  ~PipedWorker() override;

  Expected<Json> call(const std::string& method, const Json& params, const std::function<void(const Json&)>& progress) override;
  void cancel() override;
  int process_id() const override { return elsewhere_.empty() ? process_.pid : -1; }

 private:
  // What ends a call: an answer, or the end of the worker.
  using Outcome = std::optional<Expected<Json>>;

  bool exchange_bytes();  // false when the worker will send no more
  void send_waiting();
  bool receive();
  void drain_stderr();
  void queue_cancel();
  Outcome take_lines(const std::function<void(const Json&)>& progress);
  Outcome take(const std::string& line, const std::function<void(const Json&)>& progress);
  Error break_off(const std::string& why);
  Error died();
  std::string name() const;

  WorkerProcess process_;
  Descriptor wake_;              // eventfd: cancel() was called
  const std::string elsewhere_;
  std::atomic<bool> in_call_{false};
  LineCutter lines_;
  std::string outgoing_;
  std::size_t sent_ = 0;         // of outgoing_
  std::string stderr_tail_;
  std::string method_;
  int64_t id_ = 0;
  std::optional<Error> broken_;
};

PipedWorker::~PipedWorker() {
  process_.in.reset();  // the worker's end of file
  if (broken_ || process_.pid <= 0) return;
  // It may still have something to say on its way out; a full pipe must not keep it.
  for (milliseconds waited{0}; waited < kTimeToLeave; waited += milliseconds(20)) {
    drain_stderr();
    receive();
    while (lines_.next()) {
    }
    if (!process_.wait_for_end(milliseconds(20)).empty()) return;
  }
}

void PipedWorker::cancel() {
  if (!in_call_) return;
  uint64_t one = 1;
  [[maybe_unused]] auto ignored = write(wake_.get(), &one, sizeof one);
}

Expected<Json> PipedWorker::call(const std::string& method, const Json& params, const std::function<void(const Json&)>& progress) {
  if (broken_) return std::unexpected(*broken_);
  uint64_t old_cancels;
  [[maybe_unused]] auto ignored = read(wake_.get(), &old_cancels, sizeof old_cancels);
  method_ = method;
  outgoing_ = request_line(++id_, method, params) + "\n";
  sent_ = 0;
  in_call_ = true;
  Outcome outcome;
  while (!outcome) {
    bool more = exchange_bytes();
    outcome = take_lines(progress);
    if (!more && !outcome) outcome = std::unexpected(died());
  }
  in_call_ = false;
  return *std::move(outcome);
}

bool PipedWorker::exchange_bytes() {
  pollfd ready[5] = {{process_.out.get(), POLLIN, 0},
                     {process_.err.get(), POLLIN, 0},
                     {wake_.get(), POLLIN, 0},
                     {process_.watch.get(), POLLIN, 0},
                     {sent_ < outgoing_.size() ? process_.in.get() : -1, POLLOUT, 0}};
  if (poll(ready, 5, process_.watch ? -1 : 50) < 0) return errno == EINTR;
  if (ready[4].revents) send_waiting();
  if (ready[1].revents) drain_stderr();
  if (ready[2].revents) queue_cancel();
  if (ready[0].revents && !receive()) return false;
  bool ended = process_.watch ? ready[3].revents != 0 : !process_.wait_for_end(milliseconds(0)).empty();
  if (ended) receive();  // the last that it wrote
  return !ended;
}

// A worker that no longer reads is noticed by its end, not here.
void PipedWorker::send_waiting() {
  ptrdiff_t written = write_without_signal(process_.in.get(), std::string_view(outgoing_).substr(sent_));
  if (written > 0) sent_ += static_cast<std::size_t>(written);
  if (sent_ == outgoing_.size() || (written < 0 && errno == EPIPE)) {
    outgoing_.clear();
    outgoing_.shrink_to_fit();
    sent_ = 0;
  }
}

// Everything that is there; false at the end.
bool PipedWorker::receive() {
  char buffer[1 << 16];
  for (;;) {
    ssize_t got = read(process_.out.get(), buffer, sizeof buffer);
    if (got > 0) lines_.add({buffer, static_cast<std::size_t>(got)});
    if (got == 0) return false;
    if (got < 0 && errno == EINTR) continue;
    if (got < static_cast<ssize_t>(sizeof buffer)) return got > 0 || errno == EAGAIN;
    if (lines_.pending() > kMaxLine) return true;  // to be cut before more is taken
  }
}

void PipedWorker::drain_stderr() {
  char buffer[1 << 14];
  ssize_t got;
  while ((got = read(process_.err.get(), buffer, sizeof buffer)) > 0) {
    stderr_tail_.append(buffer, static_cast<std::size_t>(got));
    if (stderr_tail_.size() > 2 * kStderrKept) stderr_tail_.erase(0, stderr_tail_.size() - kStderrKept);
  }
  if (got == 0) process_.err.reset();
}

void PipedWorker::queue_cancel() {
  uint64_t count;
  if (read(wake_.get(), &count, sizeof count) > 0) outgoing_ += notification_line("cancel", {{"id", id_}}) + "\n";
}

PipedWorker::Outcome PipedWorker::take_lines(const std::function<void(const Json&)>& progress) {
  while (auto line = lines_.next()) {
    if (line->too_long) return std::unexpected(break_off(fmt::format("it sent a line of more than {} bytes", kMaxLine)));
    if (auto outcome = take(line->text, progress)) return outcome;
  }
  return std::nullopt;
}

PipedWorker::Outcome PipedWorker::take(const std::string& line, const std::function<void(const Json&)>& progress) {
  Message message = parse_message(line);
  switch (message.kind) {
    case Message::Kind::notification:
      if (message.method == "progress" && progress) progress(message.body);
      return std::nullopt;
    case Message::Kind::answer:
      if (message.id == id_) return Expected<Json>(std::move(message.body));
      break;
    case Message::Kind::error:
      if (message.id == id_) return std::unexpected(error_from_body(message.body, "worker: " + method_));
      break;
    default: break;
  }
  return std::unexpected(break_off("it sent something that is no answer to this request: " + line.substr(0, 200)));
}

std::string last_lines(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) text.pop_back();  // ssh ends its lines with both
  if (text.size() > 2000) text = "..." + text.substr(text.size() - 2000);
  return text.empty() ? "it wrote nothing to stderr" : "the end of its stderr: " + text;
}

std::string PipedWorker::name() const {
  return elsewhere_.empty() ? fmt::format("the worker (process {})", process_.pid) : fmt::format("the worker ({})", elsewhere_);
}

Error PipedWorker::break_off(const std::string& why) {
  drain_stderr();
  broken_ = Error{fmt::format("{} broke the protocol during `{}`: {}; {}", name(), method_, why, last_lines(stderr_tail_)), Blame::machine};
  process_.in.reset();
  process_.wait_for_end(milliseconds(0));
  return *broken_;
}

Error PipedWorker::died() {
  // Its output ended: it is on its way out, unless it closed stdout on purpose.
  std::string ending = process_.wait_for_end(milliseconds(1000));
  drain_stderr();
  if (ending.empty()) ending = "closed its output";
  else if (!elsewhere_.empty()) ending = ending_over_ssh(process_, ending);
  const std::string remedy = elsewhere_.empty() ? "" : SshWorker::remedy(stderr_tail_);
  broken_ = Error{fmt::format("{} {} during `{}`; {}{}", name(), ending, method_, last_lines(stderr_tail_), remedy), Blame::machine};
  process_.in.reset();
  return *broken_;
}

std::vector<std::string> arguments_of(const WorkerOptions& options) {
  if (options.cache_folder.empty()) return {};
  return {"--cache", options.cache_folder};
}

Expected<std::unique_ptr<WorkerClient>> open_here(const WorkerOptions& options, const std::string& beside, Descriptor wake) {
  const std::string program = options.where.program.empty() ? beside : options.where.program;
  if (access(program.c_str(), X_OK) != 0)
    return bad_input("worker \"{}\": {} is not a program that can be run ({}); build it with `make`, or name another with local:/path", options.where.text(),
                     program, strerror(errno));
  std::vector<std::string> argv = {program};
  for (std::string& word : arguments_of(options)) argv.push_back(std::move(word));
  WHET_TRY(WorkerProcess process, WorkerProcess::start(argv, options.environment));
  return std::make_unique<PipedWorker>(std::move(process), std::move(wake), "");
}

// Its hello tells what runs there: an error of its start comes out here, and a program that was changed without a trace is replaced.
Expected<std::unique_ptr<WorkerClient>> open_elsewhere(const WorkerOptions& options, const std::string& beside) {
  const std::string address = options.where.text();
  WHET_TRY(SshWorker far, SshWorker::make(options.where, {.program = options.ssh,
                                                          .environment = options.ssh_environment,
                                                          .worker_file = beside,
                                                          .arguments = arguments_of(options),
                                                          .notice = options.notice}));
  for (bool sent = false;; sent = true) {
    WHET_TRY(WorkerProcess process, far.start());
    Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake) return system_error("make an eventfd for the worker", errno);
    std::unique_ptr<WorkerClient> worker = std::make_unique<PipedWorker>(std::move(process), std::move(wake), address);
    WHET_TRY(const Json hello, worker->call("hello", Json::object()));
    if (hello.is_object() && hello.contains("program") && hello["program"] == far.hash()) return worker;
    if (sent) return machine_failed("worker {}: what runs there is not the program that was sent ({}); found {}", address, far.hash().substr(0, 16), brief(hello));
    WHET_OK(far.send());
  }
}

}  // namespace

Expected<std::unique_ptr<WorkerClient>> open_worker(const WorkerOptions& options) {
  const std::string beside = options.program_folder + "/whet-worker";
  if (options.where.remote()) return open_elsewhere(options, beside);
  Descriptor wake(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return system_error("make an eventfd for the worker", errno);
  return open_here(options, beside, std::move(wake));
}

}  // namespace whet
