// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/error.h"
#include "record/request.h"
#include "wire/client.h"

namespace whet {

using OpenWorker = std::function<Expected<std::unique_ptr<WorkerClient>>()>;

// When an evaluation under way is to be given up: the user's flag, and a deadline in seconds from now.
struct Patience {
  const std::atomic<bool>* stop = nullptr;
  double seconds = 1e9;
};

// The first Verdict machine_failed of whoever took part, the Candidate or whom it is compared with: a baseline that is missing on a workload makes
// the ratio to the fastest a better one. Null if there is none.
const Verdict* machine_failure_in(const Evaluation& evaluation);

// One worker process, used for one evaluation after the other and opened again when it has died.
class WorkerSeat {
 public:
  explicit WorkerSeat(OpenWorker open) : open_(std::move(open)) {}

  // Sends what the worker lacks of `blobs` and has it evaluate. An evaluation that is lost with its worker is tried once more with a new one, then an error;
  // one in which the machine failed a Solution (its process was killed from outside, say) is tried once more, then given as it is.
  // A first worker that cannot be opened is an error at once. When `patience` ends it is cancelled and comes back with Code::cancelled.
  Expected<Evaluation> evaluate(const EvaluateRequest& request, const std::map<std::string, std::string>& blobs, const Patience& patience,
                                const std::function<void(const Json&)>& progress = nullptr);

  // The process of the worker that is open, -1 if none is.
  int process_id() const { return client_ ? client_->process_id() : -1; }

 private:
  Expected<Evaluation> evaluate_once(const EvaluateRequest& request, const std::map<std::string, std::string>& blobs, const Patience& patience,
                                     const std::function<void(const Json&)>& progress);
  OpenWorker open_;
  std::unique_ptr<WorkerClient> client_;
  bool opened_ = false;  // at least once
};

}  // namespace whet
