// SPDX-License-Identifier: Apache-2.0
#include "truth/judge/judge.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <set>
#include <tuple>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "score/ratio.h"
#include "score/scoreboard.h"
#include "stats/summary.h"
#include "truth/gpu/driver.h"
#include "truth/judge/admission.h"
#include "truth/judge/gpu_floor.h"
#include "truth/judge/gpu_memory.h"
#include "truth/judge/hidden.h"
#include "truth/judge/host_memory.h"
#include "truth/judge/noise.h"
#include "truth/judge/session.h"
#include "truth/machine/cpu.h"

namespace whet {
namespace {

// The driver's own threads and mappings are among them; a Python interpreter with a library of kernels takes several GiB.
constexpr uint64_t kMemoryOfCudaProcess = uint64_t{24} << 30;
constexpr int kTasksOfCudaProcess = 512;
constexpr std::chrono::seconds kImportLimit{120};  // of a cold disk, gigabytes of libraries
constexpr int kHiddenDraws = 3;
constexpr std::chrono::milliseconds kTwinLimit{60000};  // of a call of the reference at higher precision, which may be many times slower
constexpr int kMostDeaths = 3;  // a candidate that costs its process this often is not run on the rest

std::string random_secret() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) std::abort();  // no secret, no judgement
  return sha256_hex({reinterpret_cast<const char*>(bytes), sizeof bytes}).substr(0, 32);
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

bool is_death(Code code) {
  return code == Code::crashed || code == Code::hung || code == Code::memory_exceeded || code == Code::tasks_exceeded || code == Code::exited || code == Code::escaped ||
         code == Code::input_written || code == Code::out_of_bounds;
}

// Neighbours can only make a measured ceiling too low, and a floor made of it too high: the highest that was seen since the machine started
// counts.
Expected<Ceilings> known_ceilings(const JudgeOptions& options) {
  Ceilings ceilings = measure_ceilings(options.cores);
  auto boot = read_file("/proc/sys/kernel/random/boot_id");
  const auto file = options.cache_folder / "ceilings.json";
  const std::string key = (boot ? *boot : "?") + ceilings.vector_unit + std::to_string(ceilings.threads);
  if (auto text = read_file(file)) {
    if (auto json = parse_json(*text, file); json && json->is_object() && json->value("key", "") == key) {
      ceilings.read_gb_per_s = std::max(ceilings.read_gb_per_s, json->value("read_gb_per_s", 0.0));
      ceilings.f32_gflop_per_s = std::max(ceilings.f32_gflop_per_s, json->value("f32_gflop_per_s", 0.0));
    }
  }
  const Json kept = {{"key", key}, {"read_gb_per_s", ceilings.read_gb_per_s}, {"f32_gflop_per_s", ceilings.f32_gflop_per_s}};
  WHET_OK(write_file_atomically(file, kept.dump(1)));
  return ceilings;
}

double ratio_to_fastest(const WorkloadResult& result) {
  const Trial* fastest = result.trial(fastest_baseline(result, Column::flushed));
  return fastest && result.candidate().verdict.correct() ? fastest->median_ns(Column::flushed) / result.candidate().median_ns(Column::flushed) : NAN;
}

bool is_python(const Solution& solution) { return solution.language == "python" || solution.language == "triton"; }

void report(const Progress& progress, Json message) {
  if (progress) progress(message);
}

}  // namespace

struct Judge::Work {
  const JudgeInput& input;
  Stopwatch clock;
  Evaluation evaluation;
  std::vector<const Workload*> workloads;
  std::map<std::string, Part> artifacts;  // by name; the reference under "reference:"
  std::map<std::string, Verdict> build_verdicts;
  std::unique_ptr<Contestant> reference;
  std::vector<std::unique_ptr<Contestant>> solutions;      // the candidate first
  std::vector<std::string> roles;                          // beside them
  std::map<std::string, std::string> not_admitted;         // workload -> reason
};

Expected<Judge> Judge::make(JudgeOptions options) {
  Judge judge;
  if (options.cores.empty()) options.cores = allowed_cores();
  WHET_OK(make_folders(options.cache_folder));
  BuildOptions build;
  build.cache_folder = options.cache_folder / "build";
  build.nvcc_folders = options.nvcc_folders;
  if (options.gpu < 0) {
    judge.memory_ = std::make_unique<HostMemory>();
    WHET_TRY(judge.ceilings_, known_ceilings(options));
  } else {
    WHET_TRY(const auto gpus, describe_gpus());
    judge.gpu_ = gpus.at(static_cast<size_t>(options.gpu));
    WHET_TRY(judge.memory_, GpuMemory::open(options.gpu, judge.gpu_->uuid));
    build.gpu_arch = fmt::format("{}{}{}", judge.gpu_->compute_major, judge.gpu_->compute_minor, judge.gpu_->compute_major >= 9 ? "a" : "");
  }
  WHET_TRY(auto builder, Builder::make(std::move(build)));
  judge.builder_ = std::make_unique<Builder>(std::move(builder));
  judge.options_ = std::move(options);
  return judge;
}

Expected<BuildOutcome> Judge::build(const Solution& solution) {
  if (is_python(solution)) {
    WHET_TRY(const Python* interpreter, python());
    return place_python(solution, *interpreter, options_.cache_folder);
  }
  if (solution.language != "cpp" && solution.language != "c" && solution.language != "cuda") {
    BuildOutcome outcome;
    outcome.verdict = {Code::language_unsupported, fmt::format("this worker takes Solutions in cpp, c, cuda, python and triton, not in {}", solution.language), ""};
    return outcome;
  }
  BuildInput input;
  input.sources = solution.sources;
  input.cflags = solution.cflags;
  input.ld_flags = solution.ld_flags;
  input.dependencies = solution.dependencies;
  input.abi_header = options_.abi_header;
  return builder_->build(input);
}

// Written under the hash of its contents: what lies there is believed only after a look, and a worker of another version has its own.
Expected<const Python*> Judge::python() {
  if (python_) return &*python_;
  python_ = find_python(options_.python_folders);
  if (options_.python_runner.empty()) python_->missing = "this worker was built without its part for Python (a build with a sanitizer has none)";
  if (!python_->usable()) return &*python_;
  const std::string contents(options_.python_runner);
  WHET_OK(make_folders(options_.cache_folder / "python"));
  python_runner_ = options_.cache_folder / "python" / ("runner-" + sha256_hex(contents).substr(0, 16) + ".so");
  if (auto there = read_file(python_runner_); !there || *there != contents) WHET_OK(write_file_atomically(python_runner_, contents));
  return &*python_;
}

std::unique_ptr<Contestant> Judge::contestant(const std::string& name, const Part& part, Role role) const {
  RunnerOptions runner;
  runner.program = options_.program;
  runner.artifact = part.artifact;
  runner.cores = options_.cores;
  runner.environment = options_.environment;
  if (gpu_) {
    runner.gpu = RunnerGpu{gpu_->uuid, cuda::device_files(), std::filesystem::path(gpu_->driver_library).parent_path()};
    runner.freezes = false;
    runner.memory_bytes = kMemoryOfCudaProcess;
    runner.max_tasks = kTasksOfCudaProcess;
  }
  if (part.in_python) {
    runner.python = RunnerPython{python_->executable, python_->path, python_->folders, python_runner_, role == Role::baseline};
    runner.load_limit = kImportLimit;
    runner.max_tasks = kTasksOfCudaProcess;  // numerical libraries start a pool each, of the size of the machine
  }
  runner.timed = role != Role::reference;
  auto made = std::make_unique<Contestant>(name, std::move(runner), role == Role::reference);
  if (part.in_python) made->runs_only(part.definitions);
  return made;
}

Expected<Evaluation> Judge::evaluate(const JudgeInput& input, const Progress& progress, const std::atomic<bool>& cancelled) {
  Work work{.input = input};
  Evaluation& evaluation = work.evaluation;
  evaluation.task = input.task.name;
  evaluation.task_hash = input.task_hash;
  evaluation.solution = input.candidate_name;
  evaluation.solution_hash = solution_hash(input.candidate);
  evaluation.started_at = utc_now();
  evaluation.worker = options_.worker_version;
  evaluation.secret = random_secret();
  evaluation.set = input.request.workloads.empty() ? input.request.set : "custom";
  if (input.request.workloads.empty()) {
    work.workloads = input.task.set(input.request.set);
    if (work.workloads.empty()) return bad_input("the task {} has no set '{}'", input.task.name, input.request.set);
  }
  for (const std::string& name : input.request.workloads) {
    const Workload* workload = input.task.workload(name);
    if (!workload) return bad_input("the task {} has no workload '{}'", input.task.name, name);
    work.workloads.push_back(workload);
  }

  WHET_OK(build_all(work, progress));
  if (work.build_verdicts.at(input.candidate_name).correct()) {
    if (input.request.admission) WHET_OK(admit(work, progress, cancelled));
    WHET_OK(learn_session(work, progress));
    measure(work, progress, cancelled);
    try_hidden(work, progress, cancelled);
  } else {
    for (const Workload* workload : work.workloads) {
      WorkloadResult result{workload->name, workload->definition, workload->family, 0, {}};
      Trial trial;
      trial.solution = input.candidate_name;
      trial.role = "candidate";
      trial.verdict = work.build_verdicts.at(input.candidate_name);
      result.trials.push_back(std::move(trial));
      evaluation.workloads.push_back(std::move(result));
    }
  }
  conclude(work);
  return std::move(evaluation);
}

Status Judge::build_all(Work& work, const Progress& progress) {
  const auto account = work.clock.switch_to(Stopwatch::build);
  const auto build_one = [&](const std::string& key, const std::string& name, const std::string& role, const Solution& solution) -> Status {
    report(progress, {{"phase", "build"}, {"solution", name}});
    if (solution.language == "cuda" && work.input.task.target != "cuda") {
      work.build_verdicts[key] = {Code::language_unsupported, fmt::format("{} is in cuda; the task {} is for {}", name, work.input.task.name, work.input.task.target), ""};
      work.evaluation.solutions.push_back({name, role, solution_hash(solution), "", "", {}, 0, {}});
      return {};
    }
    WHET_TRY(auto outcome, build(solution));
    work.artifacts[key] = {outcome.artifact, is_python(solution), solution.definitions};
    work.build_verdicts[key] = outcome.verdict;
    work.evaluation.solutions.push_back({name, role, solution_hash(solution), outcome.artifact_sha256, "", outcome.commands, outcome.seconds, outcome.device});
    return {};
  };
  const JudgeInput& input = work.input;
  WHET_OK(build_one(input.candidate_name, input.candidate_name, "candidate", input.candidate));
  if (work.build_verdicts[input.candidate_name].correct()) {
    WHET_OK(build_one("reference:", input.task.reference, "reference", input.task.solutions.at(input.task.reference)));
    const Verdict& reference = work.build_verdicts["reference:"];
    if (!reference.correct()) return machine_failed("the reference '{}' of {} cannot be built: {}\n{}", input.task.reference, input.task.name, reference.sentence, reference.evidence);
    for (const auto& [name, solution, role] : input.baselines) WHET_OK(build_one(name, name, role, solution));
  }
  work.clock.switch_to(account);
  return {};
}

// What an admission depends on: the definition and the workload, the reference's source, and this program.
Expected<Admission> Judge::admission_of(Work& work, const Workload& workload, Contestant& reference, ReferenceTwin& twin, const std::set<std::string>& settled) {
  const std::filesystem::path folder = options_.cache_folder / "admission";
  WHET_OK(make_folders(folder));
  const Definition& definition = *work.input.task.definition(workload.definition);
  const std::string key = sha256_hex(fmt::format("{}\n{}\n{}\n{}", to_json(definition).dump(), to_json(workload).dump(),
                                                 solution_hash(work.input.task.solutions.at(work.input.task.reference)), options_.worker_version));
  const auto file = folder / (key + ".json");
  if (auto text = read_file(file)) {
    auto json = parse_json(*text, file);
    auto known = json ? admission_from_json(*json, file) : Expected<Admission>(std::unexpected(json.error()));
    if (known && stands_with(*known, settled)) return std::move(*known);
  }
  Admission admission = examine(*memory_, definition, workload, reference, twin, settled);
  WHET_OK(memory_->health());
  if (admission.machine_failed) return machine_failed("the admission of {}: {}", workload.name, admission.problem);
  if (admission.problem.empty()) WHET_OK(write_file_atomically(file, to_json(admission).dump(1)));
  return admission;
}

Status Judge::admit(Work& work, const Progress& progress, const std::atomic<bool>& cancelled) {
  const auto account = work.clock.switch_to(Stopwatch::admission);
  auto reference = contestant("reference", work.artifacts.at("reference:"), Role::reference);
  ReferenceTwin twin{contestant("reference at higher precision", work.artifacts.at("reference:"), Role::reference), {}};
  twin.contestant->set_call_limit(kTwinLimit);
  std::vector<Admission> admissions;
  std::set<std::string> seen;
  const auto look_at = [&](const Workload& workload, size_t total) -> Status {
    report(progress, {{"phase", "admission"}, {"workload", workload.name}, {"index", seen.size()}, {"total", total}});
    seen.insert(workload.name);
    WHET_TRY(Admission admission, admission_of(work, workload, *reference, twin, settled_mutants(admissions, workload.family)));
    admissions.push_back(std::move(admission));
    return {};
  };
  // The first workloads of a family are examined in whole, so the smallest come first.
  std::vector<const Workload*> order = work.workloads;
  std::sort(order.begin(), order.end(), [](const Workload* a, const Workload* b) { return std::tie(a->floor_flops, a->floor_bytes, a->name) < std::tie(b->floor_flops, b->floor_bytes, b->name); });
  for (const Workload* workload : order)
    if (!cancelled) WHET_OK(look_at(*workload, order.size()));
  // An input may be ignored unnoticed on one workload if that is noticed on another of its family, judged here or not.
  for (const Workload& workload : work.input.task.workloads)
    if (!cancelled && !seen.count(workload.name) && families_in_doubt(admissions).count(workload.family)) WHET_OK(look_at(workload, seen.size() + 1));
  work.clock.switch_to(account);
  if (cancelled) return {};
  for (auto& [workload, reason] : refused(admissions, work.evaluation.remarks)) {
    const bool judged_here = std::any_of(work.workloads.begin(), work.workloads.end(), [&](const Workload* one) { return one->name == workload; });
    if (judged_here) work.evaluation.remarks.push_back("workload " + workload + " is not admitted: " + reason);
    work.not_admitted[workload] = reason;
  }
  return {};
}

// The first baseline that is here and runs every workload, as far as can be told: what is in Python may leave some out, and takes long to start.
std::string Judge::opponent_of_noise(const Work& work) {
  for (const auto& opponent : work.input.baselines)
    if (work.build_verdicts.at(opponent.name).correct() && !is_python(opponent.solution)) return opponent.name;
  return work.input.candidate_name;
}

Status Judge::learn_session(Work& work, const Progress& progress) {
  work.reference = contestant("reference", work.artifacts.at("reference:"), Role::reference);
  work.solutions.push_back(contestant(work.input.candidate_name, work.artifacts.at(work.input.candidate_name), Role::candidate));
  work.roles = {"candidate"};
  for (const auto& [name, solution, role] : work.input.baselines) {
    const Verdict& built = work.build_verdicts.at(name);
    if (built.correct()) work.solutions.push_back(contestant(name, work.artifacts.at(name), Role::baseline)), work.roles.push_back(role);
    else work.evaluation.remarks.push_back(fmt::format("the baseline {} is absent: {}", name, built.sentence));
  }
  if (empty_turn_ns_ < 0) {
    WHET_TRY(empty_turn_ns_, measure_empty_turn(*contestant("reference", work.artifacts.at("reference:"), Role::candidate)));
  }
  if (!work.input.request.noise_floor) return {};
  auto known = noise_floor_.find(work.input.task_hash);
  if (known == noise_floor_.end()) {
    report(progress, {{"phase", "noise floor"}});
    const std::string opponent = opponent_of_noise(work);
    NoiseFloorParts parts;
    parts.memory = memory_.get();
    for (const Workload* workload : work.workloads)
      if (!work.not_admitted.count(workload->name)) parts.workloads.emplace_back(work.input.task.definition(workload->definition), workload);
    parts.first = contestant(opponent, work.artifacts.at(opponent), Role::baseline);
    parts.second = contestant(opponent, work.artifacts.at(opponent), Role::baseline);
    parts.empty_turn_ns = empty_turn_ns_;
    parts.secret = random_secret();
    known = noise_floor_.emplace(work.input.task_hash, measure_noise(parts, work.clock)).first;
  }
  work.evaluation.noise_floor = known->second;
  return {};
}

double Judge::floor_ns(const Definition& definition, const Workload& workload) const {
  Dtype dtype = Dtype::float32;
  for (const TensorSpec& input : definition.inputs)
    if (!input.is_scalar() && is_float(input.dtype)) dtype = input.dtype;
  if (gpu_) return gpu_floor_ns(*gpu_, workload.floor_bytes, workload.floor_flops, dtype);
  return Roofline(ceilings_).floor_ns(workload.floor_bytes, workload.floor_flops, dtype);
}

void Judge::measure(Work& work, const Progress& progress, const std::atomic<bool>& cancelled) {
  int deaths = 0, index = 0;
  for (const Workload* workload : work.workloads) {
    ++index;
    const Definition& definition = *work.input.task.definition(workload->definition);
    WorkloadResult result{workload->name, workload->definition, workload->family, floor_ns(definition, *workload), {}};
    const auto skip = [&](Code code, const std::string& why) {
      Trial trial;
      trial.solution = work.input.candidate_name;
      trial.role = "candidate";
      trial.verdict = {code, why, ""};
      result.trials.push_back(std::move(trial));
      work.evaluation.workloads.push_back(std::move(result));
    };
    if (cancelled) {
      skip(Code::cancelled, "the evaluation was cancelled");
      continue;
    }
    if (const auto refusal = work.not_admitted.find(workload->name); refusal != work.not_admitted.end()) {
      skip(Code::workload_not_admitted, refusal->second);
      continue;
    }
    if (deaths >= kMostDeaths) {
      skip(Code::not_run, fmt::format("its process had died {} times by then", deaths));
      continue;
    }
    auto inputs = Inputs::make(*memory_, definition, *workload, work.evaluation.secret, runner::kMaxSets);
    if (!inputs) {
      skip(Code::machine_failed, inputs.error().what);
      continue;
    }
    std::vector<Contestant*> players;
    for (auto& solution : work.solutions) players.push_back(solution.get());
    Session session({definition, *workload, *inputs, *work.reference, players, work.roles, work.input.request, work.evaluation.secret, empty_turn_ns_,
                     result.floor_ns, cancelled, work.clock});
    work.evaluation.workloads.push_back(session.run());
    const WorkloadResult& done = work.evaluation.workloads.back();
    deaths += is_death(done.candidate().verdict.code);
    report(progress, {{"phase", "measure"}, {"workload", workload->name}, {"index", index}, {"total", work.workloads.size()},
                      {"verdict", static_cast<int>(done.candidate().verdict.code)},
                      {"ns", json_double(done.candidate().median_ns(Column::flushed))},
                      {"ratio", json_double(ratio_to_fastest(done))}});
  }
}

// Right on shapes that it could not know. Not for who is wrong on those that it knows.
void Judge::try_hidden(Work& work, const Progress& progress, const std::atomic<bool>& cancelled) {
  const auto wrong = [](const WorkloadResult& result) { return !result.candidate().verdict.correct() && static_cast<int>(result.candidate().verdict.code) < 400; };
  if (std::any_of(work.evaluation.workloads.begin(), work.evaluation.workloads.end(), wrong)) return;
  EvaluateRequest request = work.input.request;
  request.columns = {Column::flushed};
  request.min_draws = request.max_draws = kHiddenDraws;
  const auto workloads = hidden_workloads(work.input.task, work.evaluation.secret, request.hidden, work.evaluation.remarks);
  for (const Workload& workload : workloads) {
    if (cancelled) return;
    const Definition& definition = *work.input.task.definition(workload.definition);
    HiddenResult result{describe_hidden(work.input.task, workload), {}, {}};
    auto inputs = Inputs::make(*memory_, definition, workload, work.evaluation.secret, runner::kMaxSets);
    if (!inputs) {
      result.verdict = {Code::machine_failed, inputs.error().what, ""};
    } else {
      Session session({definition, workload, *inputs, *work.reference, {work.solutions.front().get()}, {"candidate"}, request, work.evaluation.secret, empty_turn_ns_, 0, cancelled,
                       work.clock, false});
      const WorkloadResult found = session.run();
      result.verdict = found.candidate().verdict;
      result.accuracy = found.candidate().accuracy;
      // Its time is nobody's concern.
      if (result.verdict.code == Code::not_enough_evidence) result.verdict = {Code::correct, "", ""};
    }
    if (result.verdict.code == Code::cancelled) return;
    report(progress, {{"phase", "hidden"}, {"index", &workload - workloads.data() + 1}, {"total", workloads.size()}, {"verdict", static_cast<int>(result.verdict.code)}});
    work.evaluation.hidden.push_back(std::move(result));
    if (!work.evaluation.hidden.back().verdict.correct()) return;  // one is enough
  }
}

// The worst outcome names the whole: what the machine did first, then broken promises, then wrong answers, then times.
void Judge::conclude(Work& work) {
  Evaluation& evaluation = work.evaluation;
  for (auto& contestant : work.solutions) {
    for (SolutionFacts& facts : evaluation.solutions)
      if (facts.name == contestant->name() && facts.role != "reference") facts.notes = contestant->notes();
    if (walls_.empty()) walls_ = contestant->walls();
  }
  for (const Wall& wall : walls_)
    if (!wall.standing) evaluation.remarks.push_back(fmt::format("this machine refuses the wall '{}': {}", wall.name, wall.reason));
  evaluation.verdict = {Code::correct, "right on every workload", ""};
  const auto severity = [](Code code) {
    const int number = static_cast<int>(code);
    if (code == Code::correct) return 0;
    if (number >= 400 && number < 500) return 1;
    return number >= 500 ? 2 : 1000 - number;
  };
  for (const WorkloadResult& result : evaluation.workloads) {
    const Verdict& verdict = result.candidate().verdict;
    if (severity(verdict.code) <= severity(evaluation.verdict.code)) continue;
    evaluation.verdict = verdict;
    evaluation.verdict.sentence = result.workload + ": " + verdict.sentence;
  }
  for (const HiddenResult& result : evaluation.hidden) {
    if (severity(result.verdict.code) <= severity(evaluation.verdict.code)) continue;
    evaluation.verdict = result.verdict;
    evaluation.verdict.sentence = fmt::format("a hidden workload ({}): {}", result.workload, result.verdict.sentence);
  }
  evaluation.environment = describe_machine().dump();
  evaluation.seconds = work.clock.so_far();
  evaluation.scoreboard = score(evaluation, work.input.task.goal);
  evaluation.id = "e" + sha256_hex(to_json(evaluation).dump()).substr(0, 16);
}

Json Judge::describe_machine() const {
  const auto coretype = options_.environment.find("OPENBLAS_CORETYPE");
  Json walls = Json::array();
  for (const Wall& wall : walls_.empty() ? jail_walls() : walls_) walls.push_back({{"name", wall.name}, {"standing", wall.standing}, {"reason", wall.reason}});
  Json machine = {{"cpu", to_json(describe_cpu(coretype == options_.environment.end() ? "" : coretype->second))},
                  {"compiler", builder_->compiler().version},
                  {"empty_turn_ns", empty_turn_ns_},
                  {"walls", walls}};
  if (gpu_) machine["gpu"] = to_json(*gpu_);
  else machine["ceilings"] = to_json(ceilings_);
  return machine;
}

}  // namespace whet
