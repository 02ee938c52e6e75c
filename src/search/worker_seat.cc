// SPDX-License-Identifier: Apache-2.0
#include "search/worker_seat.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "base/json_impl.h"

namespace whet {
namespace {

// Cancels a call of the worker when the user or the budget ends it. The flag is set by a signal handler, which can wake nobody: it is looked at
// 20 times a second.
class Watch {
 public:
  Watch(WorkerClient& client, const Patience& patience) : thread_([this, &client, patience](std::stop_token done) {
          const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience.seconds);
          std::unique_lock lock(mutex_);
          while (!done.stop_requested()) {
            if ((patience.stop && *patience.stop) || std::chrono::steady_clock::now() >= deadline) {
              client.cancel();
              return;
            }
            ended_.wait_for(lock, done, std::chrono::milliseconds(50), [] { return false; });
          }
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it ends before what it uses
};

}  // namespace

const Verdict* machine_failure_in(const Evaluation& evaluation) {
  for (const WorkloadResult& result : evaluation.workloads)
    for (const Trial& trial : result.trials)
      if (trial.verdict.code == Code::machine_failed) return &trial.verdict;
  return nullptr;
}

Expected<Evaluation> WorkerSeat::evaluate_once(const EvaluateRequest& request, const std::map<std::string, std::string>& blobs,
                                               const Patience& patience, const std::function<void(const Json&)>& progress) {
  if (!client_) {
    WHET_TRY(client_, open_());
    opened_ = true;
  }
  WHET_OK(client_->put_blobs(blobs));
  const Json params = to_json(request);
  Watch watch(*client_, patience);
  WHET_TRY(const Json answer, client_->call("evaluate", params, progress));
  return evaluation_from_json(answer, "the worker's answer");
}

Expected<Evaluation> WorkerSeat::evaluate(const EvaluateRequest& request, const std::map<std::string, std::string>& blobs, const Patience& patience,
                                          const std::function<void(const Json&)>& progress) {
  std::optional<Error> lost;
  for (bool failed = false;;) {
    Expected<Evaluation> result = evaluate_once(request, blobs, patience, progress);
    const bool stopped = patience.stop && *patience.stop;
    if (result) {
      if (failed || machine_failure_in(*result) == nullptr) return result;
      failed = true;
      if (!stopped) continue;
      result->verdict = {Code::cancelled, "the evaluation was cancelled", result->verdict.sentence};
      return result;
    }
    if (result.error().blame != Blame::machine) return result;
    client_.reset();
    if (stopped || !opened_) return result;
    if (lost && lost->what == result.error().what) return machine_failed("the worker failed twice on the same evaluation: {}", lost->what);
    if (lost) return machine_failed("the worker failed twice on the same evaluation; first: {}; then: {}", lost->what, result.error().what);
    lost = result.error();
  }
}

}  // namespace whet
