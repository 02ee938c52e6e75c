// SPDX-License-Identifier: Apache-2.0
#include "wire/server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "wire/lines.h"
#include "wire/message.h"

namespace whet {
namespace {

// Requests that wait; more stay unread in the pipe.
constexpr std::size_t kMaxWaiting = 64;

// The state that the reader thread and the thread of the handlers share.
class Session {
 public:
  Session(int input, int output, int wake, std::size_t max_line) : input_(input), output_(output), wake_(wake), max_line_(max_line) {}

  // One request, with what cancels it.
  struct Call : CallContext {
    Call(Session& owner, Message what) : session(owner), message(std::move(what)) {}
    void progress(const Json& body) override { session.send(notification_line("progress", body)); }
    const std::atomic<bool>& cancelled() const override { return stop_asked; }
    Session& session;
    Message message;
    std::atomic<bool> stop_asked{false};
  };

  void read_until_end();
  // The next request, or null when there will be none.
  std::shared_ptr<Call> wait_for_call();
  void finish_call();
  // After read_until_end(): until the last call has ended. False when nobody reads any more and it has not ended `patience` later.
  bool wait_for_last_call(std::chrono::milliseconds patience);
  void done();
  void send(std::string line);
  Status status() const { return failure_; }

 private:
  void take(const LineCutter::Line& line);
  void enqueue(Message message);
  void cancel(const Json& params);
  void end();

  const int input_, output_, wake_;
  const std::size_t max_line_;
  std::mutex write_mutex_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Call>> waiting_;
  std::shared_ptr<Call> current_;
  bool ended_ = false, done_ = false;
  std::atomic<bool> client_gone_{false};
  Status failure_;
};

void Session::send(std::string line) {
  if (client_gone_) return;
  line += '\n';
  std::lock_guard lock(write_mutex_);
  if (write_all(output_, line)) return;
  client_gone_ = true;
  end();
  uint64_t one = 1;
  [[maybe_unused]] auto ignored = write(wake_, &one, sizeof one);  // the reader has nothing more to read for
}

void Session::end() {
  std::lock_guard lock(mutex_);
  ended_ = true;
  if (current_) current_->stop_asked = true;
  for (auto& call : waiting_) call->stop_asked = true;
  changed_.notify_all();
}

void Session::cancel(const Json& params) {
  std::lock_guard lock(mutex_);
  const bool all = !params.is_object() || !params.contains("id");
  auto ask = [&](Call& call) {
    if (all || call.message.id == params["id"]) call.stop_asked = true;
  };
  if (current_) ask(*current_);
  for (auto& call : waiting_) ask(*call);
}

void Session::enqueue(Message message) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return waiting_.size() < kMaxWaiting || ended_; });
  if (ended_) return;
  waiting_.push_back(std::make_shared<Call>(*this, std::move(message)));
  changed_.notify_all();
}

void Session::take(const LineCutter::Line& line) {
  if (line.too_long)
    return send(error_line(nullptr, rpc::kParseError, fmt::format("the line is longer than {} bytes, which is the most that is read", max_line_)));
  if (line.text.find_first_not_of(" \t\r") == std::string::npos) return;
  Message message = parse_message(line.text);
  switch (message.kind) {
    case Message::Kind::request: return enqueue(std::move(message));
    case Message::Kind::notification:
      if (message.method == "cancel") cancel(message.body);
      return;
    case Message::Kind::invalid: return send(error_line(message.id, message.error_code, message.complaint));
    case Message::Kind::answer:
    case Message::Kind::error: return send(error_line(message.id, rpc::kInvalidRequest, "an answer, but nothing was asked"));
  }
}

void Session::read_until_end() {
  LineCutter lines(max_line_);
  std::string buffer(1 << 16, '\0');
  for (;;) {
    pollfd ready[3] = {{input_, POLLIN, 0}, {wake_, POLLIN, 0}, {output_, 0, 0}};  // no events: its reader's end shows all the same
    if (poll(ready, 3, -1) < 0 && errno != EINTR) break;
    if (ready[1].revents) break;
    if (ready[2].revents) {
      client_gone_ = true;
      break;
    }
    if (!ready[0].revents) continue;
    ssize_t got = read(input_, buffer.data(), buffer.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) failure_ = system_error("read requests", errno);
    if (got <= 0) break;
    lines.add({buffer.data(), static_cast<std::size_t>(got)});
    while (auto line = lines.next()) take(*line);
  }
  if (lines.pending() > 0 && failure_) send(error_line(nullptr, rpc::kParseError, "the input ended inside a line"));
  end();
}

std::shared_ptr<Session::Call> Session::wait_for_call() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !waiting_.empty() || ended_; });
  if (waiting_.empty() || client_gone_) return nullptr;
  current_ = std::move(waiting_.front());
  waiting_.pop_front();
  changed_.notify_all();
  return current_;
}

void Session::finish_call() {
  std::lock_guard lock(mutex_);
  current_.reset();
}

void Session::done() {
  std::lock_guard lock(mutex_);
  done_ = true;
  changed_.notify_all();
}

bool Session::wait_for_last_call(std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kLook{50};
  std::unique_lock lock(mutex_);
  while (!client_gone_) {
    if (changed_.wait_for(lock, kLook, [&] { return done_; })) return true;
    pollfd output{output_, 0, 0};
    if (poll(&output, 1, 0) > 0) client_gone_ = true;
  }
  return changed_.wait_for(lock, patience, [&] { return done_; });
}

std::string answer(const std::map<std::string, Handler>& handlers, const Message& message, CallContext& context) {
  auto handler = handlers.find(message.method);
  if (handler == handlers.end()) return error_line(message.id, rpc::kMethodNotFound, "unknown method \"" + message.method + "\"");
  try {
    auto result = handler->second(message.body, context);
    return result ? answer_line(message.id, *result) : error_line(message.id, result.error());
  } catch (const std::exception& exception) {
    return error_line(message.id, rpc::kInternalError, message.method + ": " + exception.what());
  }
}

}  // namespace

Server::Server() : max_line_(kMaxLine), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Server::~Server() {
  if (wake_ >= 0) close(wake_);
}

void Server::handle(const std::string& method, Handler handler) { handlers_[method] = std::move(handler); }

void Server::stop() {
  uint64_t one = 1;
  [[maybe_unused]] auto ignored = write(wake_, &one, sizeof one);
}

Status Server::run(int input, int output) {
  if (wake_ < 0) return machine_failed("cannot make an eventfd for the wire; raise the limit of open files (ulimit -n)");
  Session session(input, output, wake_, max_line_);
  std::thread reader([&] {
    session.read_until_end();
    if (leave_ && !session.wait_for_last_call(patience_)) leave_();
  });
  while (auto call = session.wait_for_call()) {
    std::string line = answer(handlers_, call->message, *call);
    session.finish_call();
    session.send(std::move(line));
  }
  session.done();
  reader.join();
  return session.status();
}

}  // namespace whet
