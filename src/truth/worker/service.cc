// SPDX-License-Identifier: Apache-2.0
#include "truth/worker/service.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <memory>

#include <fmt/ranges.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "record/request.h"
#include "task/load.h"
#include "truth/gpu/device_code.h"
#include "truth/gpu/gpu_facts.h"
#include "truth/judge/judge.h"
#include "truth/machine/cpu.h"
#include "truth/profile/session.h"
#include "truth/worker/blob_store.h"
#include "wire/blobs.h"

namespace whet {
namespace {

class Service {
 public:
  explicit Service(const ServiceOptions& options) : options_(options) {}

  Expected<Json> hello() {
    return Json{{"name", "whet-worker"}, {"version", options_.version}, {"program", program_hash()}, {"protocol", 1}, {"targets", describe_gpus() ? Json{"cpu", "cuda"} : Json{"cpu"}}};
  }
  Expected<Json> machine();
  Expected<Json> have(const Json& params);
  Expected<Json> put(const Json& params);
  Expected<Json> build(const Json& params);
  Expected<Json> evaluate(const Json& params, CallContext& context);
  // profile, sanitize: {"request": EvaluateRequest with one workload, "tools": [...]}.
  Expected<Json> look_at_call(const std::string& method, const Json& params);
  // {"request": EvaluateRequest; its first baseline, if there is one, is what the Solution is compared with}
  Expected<Json> disassemble(const Json& params);

 private:
  // The judge of tasks with this target, made when it is first needed.
  Expected<Judge*> judge_of(const std::string& target);
  const std::string& program_hash();
  Expected<const Task*> task_of(const Manifest& manifest);
  Expected<Built> built(const SolutionRef& ref, const Task& task);
  // What a request names: the Solution in its manifest, else the task's own of that name.
  Expected<Solution> solution(const SolutionRef& ref, const Task& task) const;

  const ServiceOptions& options_;
  BlobStore blobs_;
  std::map<std::string, std::unique_ptr<Judge>> judges_;  // by target
  std::string program_hash_;
  std::map<std::string, Task> tasks_;  // read ones, by task hash and manifest hash
};

constexpr int kGpu = 0;  // the first that CUDA shows; CUDA_VISIBLE_DEVICES chooses another

// All Solutions of this machine share its cores, or its GPU: whoever times holds this.
Expected<Descriptor> lock_device(const std::string& device) {
  std::string name = "/tmp/whet-" + device;
  if (name.size() > 200) name = "/tmp/whet-" + sha256_hex(device).substr(0, 16);
  Descriptor file(open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!file) return system_error("opening the lock " + name, errno);
  while (flock(file.get(), LOCK_EX) != 0)
    if (errno != EINTR) return system_error("waiting for the lock " + name, errno);
  return file;
}

std::string named(const std::vector<int>& cores) { return fmt::format("cores-{}", fmt::join(cores, "-")); }

Expected<Descriptor> lock_target(const std::string& target) {
  if (target == "cpu") return lock_device(named(allowed_cores()));
  WHET_TRY(const auto gpus, describe_gpus());
  return lock_device(gpus.at(kGpu).uuid);
}

const std::string& Service::program_hash() {
  if (program_hash_.empty()) {
    auto bytes = read_file(options_.program);
    program_hash_ = bytes ? sha256_hex(*bytes) : "unreadable";
  }
  return program_hash_;
}

// The CPU's ceilings take a moment to measure, a GPU's facts none.
Expected<Json> Service::machine() {
  WHET_TRY(const Judge* judge, judge_of("cpu"));
  Json machine = judge->describe_machine();
  if (auto gpus = describe_gpus()) {
    machine["gpus"] = Json::array();
    for (const GpuFacts& gpu : *gpus) machine["gpus"].push_back(to_json(gpu));
  } else {
    machine["no_gpu"] = gpus.error().what;
  }
  return machine;
}

Expected<Judge*> Service::judge_of(const std::string& target) {
  if (const auto known = judges_.find(target); known != judges_.end()) return known->second.get();
  JudgeOptions options;
  if (target == "cuda") {
    WHET_OK(device_code());
    WHET_TRY(const auto gpus, describe_gpus());
    options.gpu = kGpu;
  }
  options.program = options_.program;
  options.worker_version = options_.version + " " + program_hash().substr(0, 16);
  options.cache_folder = options_.cache_folder;
  options.abi_header = options_.abi_header;
  options.environment = options_.environment;
  options.nvcc_folders = options_.nvcc_folders;
  options.python_folders = options_.python_folders;
  options.python_runner = options_.python_runner;
  options.cores = allowed_cores();
  options.environment["OMP_NUM_THREADS"] = std::to_string(options.cores.size());
  WHET_TRY(auto lock, lock_target(target));  // the ceilings are times too
  WHET_TRY(auto judge, Judge::make(std::move(options)));
  return (judges_[target] = std::make_unique<Judge>(std::move(judge))).get();
}

Expected<Json> Service::have(const Json& params) {
  std::vector<std::string> complaints;
  Json missing = Json::array();
  for (const std::string& hash : JsonReader(params, "blob.have", "", complaints).strings_or_empty("hashes"))
    if (!blobs_.has(hash)) missing.push_back(hash);
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  return Json{{"missing", missing}};
}

Expected<Json> Service::put(const Json& params) {
  std::vector<std::string> complaints;
  JsonReader in(params, "blob.put", "", complaints);
  const std::string hash = in.string("hash"), text = in.string_or("base64", "");
  const bool last = in.boolean_or("last", true);
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  WHET_TRY_IN("blob.put", std::string piece, from_base64(text));
  WHET_OK(blobs_.put(hash, std::move(piece), last));
  return Json::object();
}

Expected<Solution> Service::solution(const SolutionRef& ref, const Task& task) const {
  if (ref.manifest.empty()) {
    const auto found = task.solutions.find(ref.name);
    if (found == task.solutions.end()) return bad_input("the task {} has no Solution '{}'", task.name, ref.name);
    return found->second;
  }
  WHET_TRY_IN("solution " + ref.name, const auto files, blobs_.files(ref.manifest));
  std::vector<std::string> complaints;
  Solution solution = solution_from_files(files, ref.name, complaints);
  if (!complaints.empty()) return bad_input("{}", fmt::join(complaints, "\n"));
  return solution;
}

Expected<Json> Service::build(const Json& params) {
  std::vector<std::string> complaints;
  JsonReader in(params, "build", "", complaints);
  SolutionRef ref;
  const Json& named = in.object("solution");
  JsonReader solution_in(named, "build", "solution", complaints);
  ref.name = solution_in.string("name");
  for (const auto& [path, hash] : solution_in.object("manifest").items())
    if (hash.is_string()) ref.manifest[path] = hash.get<std::string>();
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  if (ref.manifest.empty()) return bad_input("build: solution.manifest: expected at least one file");
  WHET_TRY(Judge * judge, judge_of("cpu"));  // building needs no device
  WHET_TRY(const Solution source, solution(ref, Task{}));
  WHET_TRY(const BuildOutcome outcome, judge->build(source));
  return Json{{"code", static_cast<int>(outcome.verdict.code)}, {"sentence", outcome.verdict.sentence}, {"log", outcome.log},
              {"artifact", outcome.artifact_sha256},            {"seconds", outcome.seconds},           {"commands", outcome.commands},
              {"device_code", to_json(outcome.device)}};
}

Expected<const Task*> Service::task_of(const Manifest& manifest) {
  WHET_TRY_IN("task", const auto files, blobs_.files(manifest));
  const std::string key = tree_hash(files);
  if (!tasks_.count(key)) {
    WHET_TRY(Task task, load_task(files, ""));
    tasks_.emplace(key, std::move(task));
  }
  return &tasks_.at(key);
}

Expected<Built> Service::built(const SolutionRef& ref, const Task& task) {
  WHET_TRY(const Solution source, solution(ref, task));
  WHET_TRY(Judge * judge, judge_of("cpu"));
  WHET_TRY(const BuildOutcome outcome, judge->build(source));
  if (!outcome.ok()) return bad_input("{} cannot be built: {}", ref.name, outcome.verdict.sentence);
  return Built{ref.name, outcome.artifact};
}

Expected<Json> Service::look_at_call(const std::string& method, const Json& params) {
  std::vector<std::string> complaints;
  JsonReader in(params, method, "", complaints);
  const Json& asked = in.object("request");
  const std::vector<std::string> tools = in.strings_or_empty("tools");
  for (const std::string& tool : tools)
    if (const auto& known = sanitizer_tools(); std::find(known.begin(), known.end(), tool) == known.end())
      in.complain("tools", fmt::format("expected memcheck, racecheck, initcheck or synccheck, found \"{}\"", tool));
  if (!complaints.empty()) return bad_input("{}", fmt::join(complaints, "\n"));
  WHET_TRY(const EvaluateRequest request, evaluate_request_from_json(asked, method));
  WHET_TRY_IN(method, const Task* task, task_of(request.task));
  if (task->target != "cuda") return bad_input("{}: the task {} is for {}; this command looks at calls of cuda tasks", method, task->name, task->target);
  if (request.workloads.size() != 1) return bad_input("{}: expected one workload, found {}", method, request.workloads.size());
  const Workload* workload = task->workload(request.workloads.front());
  if (!workload) return bad_input("{}: the task {} has no workload '{}'", method, task->name, request.workloads.front());
  WHET_TRY(const auto tool, tool_for(method, options_.tools));
  WHET_TRY_IN(method, const Built subject, built(request.solution, *task));
  const ToolsSubject call{options_.program, options_.environment, task, workload, subject.name, subject.artifact};
  return method == "profile" ? profile_subject(options_.tools, tool, call) : sanitize_subject(options_.tools, tool, call, tools);
}

Expected<Json> Service::disassemble(const Json& params) {
  std::vector<std::string> complaints;
  const Json& asked = JsonReader(params, "disassemble", "", complaints).object("request");
  if (!complaints.empty()) return bad_input("{}", complaints.front());
  WHET_TRY(const EvaluateRequest request, evaluate_request_from_json(asked, "disassemble"));
  WHET_TRY_IN("disassemble", const Task* task, task_of(request.task));
  WHET_TRY(const auto tool, tool_for("disassemble", options_.tools));
  WHET_TRY_IN("disassemble", const Built subject, built(request.solution, *task));
  if (!request.baselines || request.baselines->empty()) return disassemble_built(tool, subject, nullptr);
  WHET_TRY_IN("disassemble", const Built against, built(request.baselines->front(), *task));
  return disassemble_built(tool, subject, &against);
}

Expected<Json> Service::evaluate(const Json& params, CallContext& context) {
  WHET_TRY(EvaluateRequest request, evaluate_request_from_json(params, "evaluate"));
  WHET_TRY_IN("evaluate: task", const auto files, blobs_.files(request.task));
  WHET_TRY_IN("evaluate", const Task* task, task_of(request.task));
  JudgeInput input;
  input.task = *task;
  input.task_hash = task_hash(files);
  input.candidate_name = request.solution.name;
  WHET_TRY(input.candidate, solution(request.solution, input.task));
  std::vector<SolutionRef> baselines;
  if (request.baselines) {
    baselines = *request.baselines;
  } else {
    // A baseline that is itself judged is held against the others.
    for (const std::string& name : input.task.baselines)
      if (name != input.candidate_name || solution_hash(input.task.solutions.at(name)) != solution_hash(input.candidate)) baselines.push_back({name, {}});
  }
  bool any_of_task = false;
  for (const SolutionRef& ref : baselines) {
    WHET_TRY(Solution baseline, solution(ref, input.task));
    // One name stands for one contestant in all that follows.
    if (ref.name == input.candidate_name) return bad_input("evaluate: the candidate and a baseline are both called '{}'; give one of them another name", ref.name);
    const auto& of_task = input.task.baselines;
    const bool is_of_task = ref.manifest.empty() && std::find(of_task.begin(), of_task.end(), ref.name) != of_task.end();
    any_of_task |= is_of_task;
    input.baselines.push_back({ref.name, std::move(baseline), is_of_task ? "baseline" : "other"});
  }
  if (!any_of_task)
    for (auto& opponent : input.baselines) opponent.role = "baseline";
  input.request = std::move(request);
  WHET_TRY_IN("the task " + input.task.name + " is for " + input.task.target, Judge * judge, judge_of(input.task.target));
  WHET_TRY(auto lock, lock_target(input.task.target));
  WHET_TRY(const Evaluation evaluation, judge->evaluate(input, [&](const Json& message) { context.progress(message); }, context.cancelled()));
  return to_json(evaluation);
}

}  // namespace

Status serve(const ServiceOptions& options, int input, int output) {
  Service service(options);
  Server server;
  if (options.leave) server.when_deserted(std::chrono::seconds(1), options.leave);
  server.handle("hello", [&](const Json&, CallContext&) { return service.hello(); });
  server.handle("machine", [&](const Json&, CallContext&) { return service.machine(); });
  server.handle("blob.have", [&](const Json& params, CallContext&) { return service.have(params); });
  server.handle("blob.put", [&](const Json& params, CallContext&) { return service.put(params); });
  server.handle("build", [&](const Json& params, CallContext&) { return service.build(params); });
  server.handle("evaluate", [&](const Json& params, CallContext& context) { return service.evaluate(params, context); });
  for (const char* method : {"profile", "sanitize"})
    server.handle(method, [&service, method](const Json& params, CallContext&) { return service.look_at_call(method, params); });
  server.handle("disassemble", [&](const Json& params, CallContext&) { return service.disassemble(params); });
  return server.run(input, output);
}

}  // namespace whet
