// SPDX-License-Identifier: Apache-2.0
// aa: what the judge says of a Solution against itself, and against one that is a few percent slower. Prints a line per judgement and the shares, and how
// far the ratio of each workload moved from one judgement to the next; --json keeps every interval. The worker lives through all of them, as it
// does in a run, unless --fresh 1 starts one for each.
//
//   build/dev/bin/aa --worker FOLDER_OF_WHET-WORKER --task tasks/attention-cpu [--set quick] [--workloads A,B] [--runs 100] [--slowed bench/slowed]
//                    [--seconds 1] [--fresh 1] [--admission 0] [--json FILE]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "record/evaluation.h"
#include "record/request.h"
#include "score/ratio.h"
#include "wire/client.h"

namespace whet {
namespace {

using Files = std::map<std::string, std::string>;

Manifest manifest_of(const Files& files, std::map<std::string, std::string>& blobs) {
  Manifest manifest;
  for (const auto& [path, contents] : files) {
    const std::string hash = sha256_hex(contents);
    manifest[path] = hash;
    blobs[hash] = contents;
  }
  return manifest;
}

// The start Solution with the slowing wrapper around it.
Expected<Files> slowed_solution(Files start, const std::string& wrapper_folder) {
  WHET_TRY(const Files wrapper, read_tree(wrapper_folder));
  for (const auto& [path, contents] : wrapper) start[path] = contents;
  WHET_TRY(Json json, parse_json(start.at("solution.json"), "solution.json"));
  json["spec"]["compile_options"]["cflags"].push_back("-Dwhet_solution_v1=wrapped_solution_v1");
  start["solution.json"] = json.dump(1);
  return start;
}

struct Options {
  std::string worker, cache = "build/aa-cache", task = "tasks/attention-cpu", set = "quick", slowed, json, workloads;
  int runs = 100;
  double seconds = 1;
  bool fresh = false, admission = true;
};

std::vector<std::string> names_in(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

Expected<std::unique_ptr<WorkerClient>> open_local(const Options& options) {
  WorkerOptions where;
  where.program_folder = options.worker;
  where.cache_folder = options.cache;
  for (const char* name : {"PATH", "HOME", "OPENBLAS_CORETYPE", "LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES"})
    if (const char* value = std::getenv(name)) where.environment[name] = value;
  return open_worker(where);
}

// What each workload says by itself.
Json rows_of(const Evaluation& evaluation) {
  Json rows = Json::array();
  for (const WorkloadResult& result : evaluation.workloads) {
    const Trial* start = result.trial("start");
    if (!start) continue;
    const Ratio ratio = ratio_of(result.candidate(), *start, Column::flushed, evaluation.noise_floor, 1);
    rows.push_back({{"name", result.workload}, {"family", result.family}, {"verdict", static_cast<int>(result.candidate().verdict.code)}, {"ns", json_double(result.candidate().median_ns(Column::flushed))},
                    {"start_ns", json_double(start->median_ns(Column::flushed))}, {"slope_ns", result.candidate().slope_ns}, {"ratio", json_double(ratio.value)}, {"low", json_double(ratio.low)},
                    {"high", json_double(ratio.high)}});
  }
  return rows;
}

// |ln| of what the ratio of a workload moved by from one judgement to the next, of those that take more than 20 us.
struct Moved {
  double middle = 0, worst = 0;
  std::string name;
  size_t count = 0;
};
Moved moved(const Json& rows) {
  constexpr double kLeastNs = 20e3;
  std::vector<double> all;
  Moved result;
  for (size_t i = 1; i < rows.size(); ++i) {
    const Json &before = rows[i - 1]["workloads"], &after = rows[i]["workloads"];
    for (size_t w = 0; w < std::min(before.size(), after.size()); ++w) {
      if (!before[w]["ratio"].is_number() || !after[w]["ratio"].is_number() || after[w]["ns"].get<double>() < kLeastNs) continue;
      all.push_back(std::fabs(std::log(after[w]["ratio"].get<double>() / before[w]["ratio"].get<double>())));
      if (all.back() > result.worst) result.worst = all.back(), result.name = after[w]["name"].get<std::string>();
    }
  }
  result.count = all.size();
  std::sort(all.begin(), all.end());
  if (!all.empty()) result.middle = all[all.size() / 2];
  return result;
}

Status run(const Options& options) {
  WHET_TRY(const Files task, read_tree(options.task));
  Files start;
  for (const auto& [path, contents] : task)
    if (path.rfind("solutions/start/", 0) == 0) start[path.substr(16)] = contents;
  Files candidate = start;
  if (!options.slowed.empty()) {
    WHET_TRY(candidate, slowed_solution(start, options.slowed));
  }
  WHET_TRY(auto worker, open_local(options));

  std::map<std::string, std::string> blobs;
  EvaluateRequest request;
  request.task = manifest_of(task, blobs);
  request.solution = {options.slowed.empty() ? "itself" : "slowed", manifest_of(candidate, blobs)};
  request.baselines = std::vector<SolutionRef>{{"start", {}}};
  request.set = options.set;
  request.workloads = names_in(options.workloads);
  request.admission = options.admission;
  request.columns = {Column::flushed};
  request.max_draws = 400;
  request.target_half_width = 0.002;
  request.seconds_per_workload = options.seconds;
  WHET_OK(worker->put_blobs(blobs));

  int contains_one = 0, wins = 0, losses = 0;
  double longest = 0, widest = 0;
  Json rows = Json::array();
  for (int i = 0; i < options.runs; ++i) {
    if (options.fresh && i > 0) {
      worker.reset();
      WHET_TRY(worker, open_local(options));
      WHET_OK(worker->put_blobs(blobs));
    }
    const auto begin = std::chrono::steady_clock::now();
    WHET_TRY(Json answer, worker->call("evaluate", to_json(request)));
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    WHET_TRY(const Evaluation evaluation, evaluation_from_json(answer, "evaluate"));
    if (!evaluation.scoreboard.geomean_vs_fastest) return machine_failed("run {}: {} {}", i, evaluation.verdict.sentence, evaluation.verdict.evidence.substr(0, 2000));
    const Ratio ratio = *evaluation.scoreboard.geomean_vs_fastest;
    contains_one += ratio.low <= 1 && ratio.high >= 1;
    wins += ratio.low > 1;
    losses += ratio.high < 1;
    if (i > 0) longest = std::max(longest, took);  // the first builds and admits
    widest = std::max({widest, ratio.high / ratio.value - 1, 1 - ratio.low / ratio.value});
    rows.push_back({{"workloads", rows_of(evaluation)}, {"value", ratio.value}, {"low", ratio.low}, {"high", ratio.high}, {"noise_floor", evaluation.noise_floor}, {"seconds", took},
                    {"judge_share", evaluation.seconds.judge / (evaluation.seconds.total - evaluation.seconds.build - evaluation.seconds.admission)}});
    std::printf("%3d  %.4f [%.4f, %.4f]  noise %.4f  %.2f s\n", i + 1, ratio.value, ratio.low, ratio.high, evaluation.noise_floor, took);
    std::fflush(stdout);
  }
  std::printf("%d judgements: interval contains 1 in %d, called faster in %d, called slower in %d; longest %.2f s\n", options.runs, contains_one, wins, losses, longest);
  const Moved from_run_to_run = moved(rows);
  std::printf("widest half of an interval %.3f %%; from one judgement to the next a workload's ratio moved by %.3f %% (median of %zu above 20 us), at most %.3f %% (%s)\n", 100 * widest,
              100 * from_run_to_run.middle, from_run_to_run.count, 100 * from_run_to_run.worst, from_run_to_run.name.c_str());
  if (!options.json.empty())
    WHET_OK(write_file_atomically(options.json, Json{{"widest_half", widest}, {"moved_median", from_run_to_run.middle}, {"moved_most", from_run_to_run.worst}, {"fresh_workers", options.fresh}, {"runs", options.runs}, {"contains_one", contains_one}, {"faster", wins}, {"slower", losses}, {"set", options.set}, {"rows", rows}}.dump(1)));
  return {};
}

}  // namespace
}  // namespace whet

int main(int argc, char** argv) {
  whet::Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i], value = argv[i + 1];
    if (flag == "--worker") options.worker = value;
    else if (flag == "--cache") options.cache = value;
    else if (flag == "--task") options.task = value;
    else if (flag == "--set") options.set = value;
    else if (flag == "--slowed") options.slowed = value;
    else if (flag == "--json") options.json = value;
    else if (flag == "--workloads") options.workloads = value;
    else if (flag == "--fresh") options.fresh = value == "1";
    else if (flag == "--admission") options.admission = value != "0";
    else if (flag == "--runs") options.runs = std::atoi(value.c_str());
    else if (flag == "--seconds") options.seconds = std::atof(value.c_str());
    else return std::fprintf(stderr, "aa: unknown flag %s\n", argv[i]), 2;
  }
  if (auto status = whet::run(options); !status) return std::fprintf(stderr, "aa: %s\n", status.error().what.c_str()), 3;
  return 0;
}
