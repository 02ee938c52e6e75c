// SPDX-License-Identifier: Apache-2.0
#include "search/scripted_judge_test.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "direction/agent/choices.h"
#include "score/scoreboard.h"
#include "task/load.h"
#include "wire/blobs.h"

namespace whet::scripted {
namespace {

uint64_t seed_of(const std::string& text) { return std::stoull(sha256_hex(text).substr(0, 16), nullptr, 16); }

class ScriptedWorker final : public WorkerClient {
 public:
  explicit ScriptedWorker(World& world) : world_(world) { ++world_.workers; }

  Expected<Json> call(const std::string& method, const Json& params, const std::function<void(const Json&)>& progress) override {
    if (dead_) return machine_failed("the worker is gone");
    if (method == "blob.have") {
      Json missing = Json::array();
      for (const Json& hash : params["hashes"])
        if (!world_.blobs.contains(hash.get<std::string>())) missing.push_back(hash);
      return Json{{"missing", missing}};
    }
    if (method == "blob.put") {
      WHET_TRY(const std::string bytes, from_base64(params["base64"].get<std::string>()));
      world_.blobs[params["hash"].get<std::string>()] = bytes;
      return Json::object();
    }
    if (method != "evaluate") return bad_input("unknown method {}", method);
    return evaluate(params, progress);
  }
  void cancel() override { world_.cancelled = true; }
  int process_id() const override { return -1; }

 private:
  Expected<Json> evaluate(const Json& params, const std::function<void(const Json&)>& progress) {
    world_.cancelled = world_.cancel_all;
    world_.pass_boundary();
    if (world_.die_in >= 0 && world_.die_in-- == 0) {
      if (--world_.deaths > 0) world_.die_in = 0;
      dead_ = true;
      return machine_failed("the worker died of signal 9");
    }
    WHET_TRY(const EvaluateRequest request, evaluate_request_from_json(params, "request"));
    if (progress) progress(Json{{"phase", "measure"}});
    ++world_.evaluations;
    ++world_.judged[params.dump()];
    world_.now += world_.seconds_per_evaluation;
    WHET_TRY(const Evaluation evaluation, judge(request, params.dump()));
    world_.pass_boundary();
    return to_json(evaluation);
  }

  Files files(const Manifest& manifest) const {
    Files result;
    for (const auto& [path, hash] : manifest) result[path] = world_.blobs.at(hash);
    return result;
  }

  Expected<Evaluation> judge(const EvaluateRequest& request, const std::string& seed) {
    const Files task_files = files(request.task);
    WHET_TRY(const Task task, load_task(task_files, ""));
    const auto solution_of = [&](const SolutionRef& ref) {
      return ref.manifest.empty() ? solution_files(task_files, ref.name) : files(ref.manifest);
    };
    std::vector<SolutionRef> baselines;
    if (request.baselines)
      baselines = *request.baselines;
    else
      for (const std::string& name : task.baselines) baselines.push_back({name, {}});
    std::vector<std::string> complaints;
    const Files candidate = solution_of(request.solution);
    Evaluation evaluation{.id = "e" + sha256_hex(seed).substr(0, 16), .task = task.name, .task_hash = task_hash(task_files)};
    evaluation.solution = request.solution.name;
    evaluation.solution_hash = solution_hash(solution_from_files(candidate, "candidate", complaints));
    evaluation.set = request.workloads.empty() ? request.set : "custom";
    evaluation.started_at = "2026-01-01T00:00:00Z";
    evaluation.worker = "scripted";
    evaluation.secret = std::string(64, '0');
    evaluation.environment = "{}";
    evaluation.seconds.total = 1;
    evaluation.verdict = {Code::correct, "right", ""};
    if (world_.cancelled) evaluation.verdict = {Code::cancelled, "cancelled", ""};
    if (candidate.at("choices.h").contains("BROKEN")) evaluation.verdict = {Code::compile_failed, "it does not compile", ""};
    std::mt19937_64 generator(seed_of(seed));
    std::normal_distribution<> normal(0, 1);
    for (const Workload& workload : task.workloads) {
      const bool wanted = request.workloads.empty() ? std::ranges::find(workload.sets, request.set) != workload.sets.end()
                                                    : std::ranges::find(request.workloads, workload.name) != request.workloads.end();
      if (!wanted || !evaluation.verdict.correct()) continue;
      WorkloadResult result{.workload = workload.name, .definition = workload.definition, .family = workload.family};
      const auto add = [&](const std::string& name, const std::string& role, const Files& source) {
        Trial trial{.solution = name, .role = role, .verdict = {Code::correct, "right", ""}};
        double ns = 1e4 * std::exp(0.3);
        if (source.contains("choices.h")) {
          std::map<std::string, std::string> values;
          const auto choices = *parse_choices(source);
          for (const Choice& choice : choices) values[choice.name] = choice.value;
          ns = 1e4 * std::exp(cost(world_, workload.family, values));
          if (workload.family == "beta" && values["kBetaPath"] == "2" && values["kBetaTile"] == "64") trial.verdict = {Code::wrong, "wrong", ""};
        }
        if (world_.machine_failures > 0 && role == "candidate") trial.verdict = {Code::machine_failed, "killed from outside", ""};
        for (int draw = 0; draw < request.min_draws; ++draw)
          trial.samples[Column::flushed].push_back({draw, 0, ns * std::exp(world_.noise * normal(generator)), ""});
        result.trials.push_back(std::move(trial));
      };
      add(request.solution.name, "candidate", candidate);
      for (const SolutionRef& baseline : baselines) add(baseline.name, "baseline", solution_of(baseline));
      evaluation.workloads.push_back(std::move(result));
    }
    if (world_.machine_failures > 0) --world_.machine_failures;
    for (const WorkloadResult& result : evaluation.workloads)
      if (!result.candidate().verdict.correct()) evaluation.verdict = result.candidate().verdict;
    evaluation.scoreboard = score(evaluation, task.goal);
    return evaluation;
  }

  World& world_;
  bool dead_ = false;
};

}  // namespace

std::string choices_source(int alpha_path, int alpha_tile, int alpha_threads, int beta_path, int beta_tile, int beta_threads) {
  const auto line = [](const char* name, int value, const char* values, const char* family) {
    return fmt::format("inline constexpr int {} = {};  // whet:tune {{{}}} family={}\n", name, value, values, family);
  };
  return "// choices\n" + line("kAlphaPath", alpha_path, "0, 1, 2", "alpha") + line("kAlphaTile", alpha_tile, "8, 16, 32, 64", "alpha") +
         line("kAlphaThreads", alpha_threads, "1, 2", "alpha") + line("kBetaPath", beta_path, "0, 1, 2", "beta") +
         line("kBetaTile", beta_tile, "8, 16, 32, 64", "beta") + line("kBetaThreads", beta_threads, "1, 2", "beta");
}

Files task_files() {
  Files files = *read_tree(WHET_SOURCE_DIR "/tasks/rmsnorm-cpu");
  std::string& workloads = files.at("workloads/rmsnorm_f32.jsonl");
  std::size_t at = 0;
  for (const char* family : {"alpha", "alpha", "beta", "beta"}) {
    const std::string old = "\"family\": \"rmsnorm\"";
    at = workloads.find(old, at);
    workloads.replace(at, old.size(), fmt::format("\"family\": \"{}\"", family));
  }
  files["solutions/start/choices.h"] = choices_source(0, 8, 1, 0, 8, 1);
  return files;
}

double cost(const World& world, const std::string& family, const std::map<std::string, std::string>& choices) {
  if (world.flat) return 0;
  const std::string prefix = family == "alpha" ? "kAlpha" : "kBeta";
  const int path = std::stoi(choices.at(prefix + "Path")), tile = std::stoi(choices.at(prefix + "Tile"));
  const double paths[] = {1.2, 0.5, 0};
  const double off = std::log2(tile / (family == "alpha" ? 16.0 : 32.0));
  return paths[path] + (path == 0 ? 0 : 0.12 * std::abs(off)) + (choices.at(prefix + "Threads") == "1" ? 0.5 : 0);
}

OpenWorker open_worker(World& world) {
  return [&world]() -> Expected<std::unique_ptr<WorkerClient>> { return std::make_unique<ScriptedWorker>(world); };
}

Expected<std::optional<Evaluation>> MemoryStore::find(const std::string& run, const std::string& solution_hash, const std::string& request_hash) {
  for (const JudgedRecord& record : records)
    if (record.evaluation.solution_hash == solution_hash && record.request_hash == request_hash && (run.empty() || record.run == run))
      return record.evaluation;
  return std::nullopt;
}

Status MemoryStore::record(const JudgedRecord& judged, const std::map<std::string, std::string>& blobs) {
  world_.pass_boundary();
  records.push_back(judged);
  blobs_.insert(blobs.begin(), blobs.end());
  world_.pass_boundary();
  return {};
}

Expected<std::string> MemoryStore::blob(const std::string& sha256) {
  const auto at = blobs_.find(sha256);
  if (at == blobs_.end()) return machine_failed("no blob {}", sha256);
  return at->second;
}

Status MemoryStore::begin_run(const RunRecord& run) {
  world_.pass_boundary();
  runs[run.id] = run;
  world_.pass_boundary();
  return {};
}

Status MemoryStore::end_run(const std::string& id, const std::string& status) {
  runs.at(id).status = status;
  world_.pass_boundary();
  return {};
}

Expected<RunRecord> MemoryStore::run(const std::string& id) {
  const auto at = runs.find(id);
  if (at == runs.end()) return bad_input("no run '{}'", id);
  return at->second;
}

Expected<std::vector<JudgedRecord>> MemoryStore::judged(const std::string& run) {
  std::vector<JudgedRecord> result;
  for (const JudgedRecord& record : records)
    if (record.run == run) result.push_back(record);
  return result;
}

}  // namespace whet::scripted
