// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
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
  virtual void progress(const Json& message) = 0;       // sent as a notification "progress"; dropped if the client is gone
  virtual const std::atomic<bool>& cancelled() const = 0;  // set by the client's "cancel", by its end of file, and by stop()
};

using Handler = std::function<Expected<Json>(const Json& params, CallContext& context)>;

// Reads JSON-RPC 2.0 requests from one descriptor and answers on another, one message a line, one request at a time; a reader thread
// notices "cancel" and end of file while a handler runs. A line that is not JSON, not a request, too long (over 512 MiB) or names an unknown method
// gets a JSON-RPC error and the loop goes on.
class Server {
 public:
  void handle(const std::string& method, Handler handler);
  // Returns when the input ends. The descriptors stay open.
  Status run(int input, int output);

 private:
  std::map<std::string, Handler> handlers_;
};

}  // namespace whet
