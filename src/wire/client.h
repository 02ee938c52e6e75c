// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/json.h"

namespace whet {

// A worker at the other end of a pair of pipes, speaking JSON-RPC 2.0, one message a line (no line feed inside a message).
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

// `where`: "local:" (the whet-worker beside the running program), "local:/path/to/whet-worker". The worker dies with its client, and with
// the thread that opened it.
struct WorkerOptions {
  std::string where = "local:";
  std::string program_folder;               // where whet-worker is looked for
  std::string cache_folder;                 // passed to the worker as `--cache FOLDER`, unless empty: objects, artifacts, admissions
  std::map<std::string, std::string> environment;  // the worker's whole environment
};
Expected<std::unique_ptr<WorkerClient>> open_worker(const WorkerOptions& options);

}  // namespace whet
