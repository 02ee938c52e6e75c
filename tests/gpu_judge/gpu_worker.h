// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "record/evaluation.h"
#include "record/request.h"
#include "wire/client.h"

namespace whet {

// The real worker on gpu_task, one for all tests of a program: what one Solution does to it would show in the next. Where the program was built
// elsewhere, the variables WHET_SOURCE_DIR and WHET_BINARY_DIR say where sources and programs are now.
class GpuWorker {
 public:
  static GpuWorker& get();

  bool has_gpu() const { return has_gpu_; }
  const std::string& problem() const { return problem_; }

  // `folder` is below tests/: "gpu_cheats/zeros". Its time is printed with what came of it, a line a workload.
  Evaluation judge(EvaluateRequest request, const std::string& folder);
  int process_id() const { return client_ ? client_->process_id() : -1; }

 private:
  GpuWorker();
  Manifest send(const std::map<std::string, std::string>& files);

  std::unique_ptr<WorkerClient> client_;
  bool has_gpu_ = false;
  std::string problem_;  // why there is none
};

// All that is known of a judgement, for one who has nothing but this program's output.
std::string describe(const Evaluation& evaluation);

}  // namespace whet
