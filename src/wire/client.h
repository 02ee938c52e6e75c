// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "wire/address.h"

namespace whet {

// A worker at the other end of a pair of pipes, here or behind ssh, speaking JSON-RPC 2.0, one message a line (no line feed inside a message).
// Not thread-safe; cancel() may be called from another thread, from a signal handler or from `progress`.
class WorkerClient {
 public:
  virtual ~WorkerClient() = default;

  // Sends a request and waits for its answer; progress notifications that arrive meanwhile go to `progress` (may be null). An error
  // object in the answer becomes an Error (its `data.blame` says whose). A worker that dies or breaks off is an Error with Blame::machine
  // that says how it ended, with the end of its stderr; after that every call fails at once.
  virtual Expected<Json> call(const std::string& method, const Json& params, const std::function<void(const Json&)>& progress = nullptr) = 0;

  // Asks the worker to stop the request under way; call() then returns its answer (an Evaluation with Code::cancelled). Without a request
  // under way it does nothing, so a caller that wants to stop looks at its own flag before each call.
  virtual void cancel() = 0;

  // Sends what the worker lacks of these contents (blob.have, then blob.put in pieces). sha256 -> contents.
  Status put_blobs(const std::map<std::string, std::string>& blobs);

  virtual int process_id() const = 0;  // of a local worker; -1 elsewhere
};

// A local worker dies with its client, and with the thread that opened it. So does one on another machine, as soon as its side notices the end of the
// connection: it ends its runners, and what it was writing is not there.
struct WorkerOptions {
  WorkerAddress where;
  std::string program_folder;               // where whet-worker is looked for: to be started, or to be sent
  std::string cache_folder;                 // passed to the worker as `--cache FOLDER`, unless empty: objects, artifacts, admissions; over there if it is elsewhere
  std::map<std::string, std::string> environment;      // a local worker's whole environment; one elsewhere has its login shell's
  std::vector<std::string> ssh = {"ssh"};              // the ssh program with its arguments
  std::map<std::string, std::string> ssh_environment;  // its whole environment
  std::function<void(const std::string&)> notice;      // one line for the user, when something takes a while; may be null
};
// On another machine the worker has said hello when this returns, and runs the same program that was sent.
Expected<std::unique_ptr<WorkerClient>> open_worker(const WorkerOptions& options);

}  // namespace whet
