// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// What a handler may use while it runs.
class CallContext {
 public:
  virtual ~CallContext() = default;
  virtual void progress(const Json& message) = 0;       // sent as a notification "progress"; dropped if the client is gone; any thread
  virtual const std::atomic<bool>& cancelled() const = 0;  // set by the client's "cancel", by its end of file, and by stop()
};

using Handler = std::function<Expected<Json>(const Json& params, CallContext& context)>;

// Reads JSON-RPC 2.0 requests from one descriptor and answers on another, one message a line, one request at a time; a reader thread
// notices "cancel" and end of file while a handler runs. A line that is not JSON, not a request, too long (over 512 MiB) or names an unknown method
// gets a JSON-RPC error and the loop goes on. Unknown notifications are ignored. A handler that throws is answered with an internal error.
// "cancel" with {"id": N} means that request, running or waiting; without an id, all of them.
class Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void handle(const std::string& method, Handler handler);
  // Handlers run in the calling thread. Returns when the input ends and all that was asked is answered, when the client no longer reads,
  // or after stop(). The descriptors stay open.
  Status run(int input, int output);
  // As if the input had ended. From any thread or a signal handler.
  void stop();
  // `leave` is called when nobody can read the answers any more and the request under way has not ended `patience` later: a compiler, a lock that
  // others hold. From another thread than run()'s; it is to end the process. Without it run() waits for the handler.
  void when_deserted(std::chrono::milliseconds patience, std::function<void()> leave) {
    patience_ = patience;
    leave_ = std::move(leave);
  }
  void set_max_line(std::size_t bytes) { max_line_ = bytes; }

 private:
  std::map<std::string, Handler> handlers_;
  std::size_t max_line_;
  std::chrono::milliseconds patience_{0};
  std::function<void()> leave_;
  int wake_ = -1;  // eventfd
};

}  // namespace whet
