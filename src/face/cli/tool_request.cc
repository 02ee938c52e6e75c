// SPDX-License-Identifier: Apache-2.0
#include "face/cli/tool_request.h"

#include "base/hash.h"
#include "base/json_impl.h"
#include "face/cli/judge_options.h"
#include "task/load.h"

namespace whet {
namespace {

using Blobs = std::map<std::string, std::string>;

Manifest add_to(Blobs& blobs, const std::map<std::string, std::string>& files) {
  Manifest manifest;
  for (const auto& [path, contents] : files) {
    std::string hash = sha256_hex(contents);
    blobs.try_emplace(hash, contents);
    manifest[path] = std::move(hash);
  }
  return manifest;
}

Expected<SolutionRef> reference_to(const std::string& argument, const OpenedTask& task, Blobs& blobs) {
  WHET_TRY(const SolutionSource found, find_solution(argument, task.source));
  return SolutionRef{found.name, add_to(blobs, found.files.empty() ? solution_files(task.folder.files, found.name) : found.files)};
}

}  // namespace

void ToolRequest::declare(Arguments& arguments) {
  arguments.text(json, "--json FILE", "the result as JSON, whole or not at all; - is standard output");
  places.declare_data(arguments);
  places.declare_worker(arguments);
}

Expected<Json> ToolRequest::ask(const Context& context, const std::string& method, const std::string& workload, const std::string& against,
                                const std::vector<std::string>& tools) const {
  WHET_TRY(const OpenedTask opened, open_task(task, places, context));
  JudgeOptions which;
  if (!workload.empty()) which.workloads = {workload};
  WHET_TRY(EvaluateRequest request, which.request(opened.folder.task));
  Blobs blobs;
  request.task = add_to(blobs, opened.folder.files);
  WHET_TRY(request.solution, reference_to(solution, opened, blobs));
  request.baselines.emplace();
  if (!against.empty()) {
    WHET_TRY(SolutionRef other, reference_to(against, opened, blobs));
    request.baselines->push_back(std::move(other));
  }
  WHET_TRY(const WorkerOptions options, places.worker_options(context));
  WHET_TRY(const auto worker, open_worker(options));
  WHET_OK(worker->put_blobs(blobs));
  return worker->call(method, Json{{"request", to_json(request)}, {"tools", tools}});
}

}  // namespace whet
