// SPDX-License-Identifier: Apache-2.0
// aa: what the judge says of a Solution against itself, and against one that is 3 % slower. Prints a line per judgement and the shares; --json
// keeps every interval. The worker lives through all of them, as it does in a run.
//
//   build/dev/bin/aa --worker FOLDER_OF_WHET-WORKER --task tasks/attention-cpu [--set quick] [--runs 100] [--slowed bench/slowed] [--seconds 1] [--json FILE]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"
#include "record/evaluation.h"
#include "record/request.h"
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
  WHET_TRY(start["slowed.cc"], read_file(wrapper_folder + "/slowed.cc"));
  WHET_TRY(Json json, parse_json(start.at("solution.json"), "solution.json"));
  json["spec"]["compile_options"]["cflags"].push_back("-Dwhet_solution_v1=wrapped_solution_v1");
  start["solution.json"] = json.dump(1);
  return start;
}

struct Options {
  std::string worker, cache = "build/aa-cache", task = "tasks/attention-cpu", set = "quick", slowed, json;
  int runs = 100;
  double seconds = 1;
};

Status run(const Options& options) {
  WHET_TRY(const Files task, read_tree(options.task));
  Files start;
  for (const auto& [path, contents] : task)
    if (path.rfind("solutions/start/", 0) == 0) start[path.substr(16)] = contents;
  Files candidate = start;
  if (!options.slowed.empty()) {
    WHET_TRY(candidate, slowed_solution(start, options.slowed));
  }
  WorkerOptions where;
  where.program_folder = options.worker;
  where.cache_folder = options.cache;
  for (const char* name : {"PATH", "HOME", "OPENBLAS_CORETYPE"})
    if (const char* value = std::getenv(name)) where.environment[name] = value;
  WHET_TRY(auto worker, open_worker(where));

  std::map<std::string, std::string> blobs;
  EvaluateRequest request;
  request.task = manifest_of(task, blobs);
  request.solution = {options.slowed.empty() ? "itself" : "slowed", manifest_of(candidate, blobs)};
  request.baselines = std::vector<SolutionRef>{{"start", {}}};
  request.set = options.set;
  request.columns = {Column::flushed};
  request.max_draws = 400;
  request.target_half_width = 0.002;
  request.seconds_per_workload = options.seconds;
  WHET_OK(worker->put_blobs(blobs));

  int contains_one = 0, wins = 0, losses = 0;
  double longest = 0;
  Json rows = Json::array();
  for (int i = 0; i < options.runs; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    WHET_TRY(Json answer, worker->call("evaluate", to_json(request)));
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    WHET_TRY(const Evaluation evaluation, evaluation_from_json(answer, "evaluate"));
    if (!evaluation.scoreboard.geomean_vs_fastest) return machine_failed("run {}: {}", i, evaluation.verdict.sentence);
    const Ratio ratio = *evaluation.scoreboard.geomean_vs_fastest;
    contains_one += ratio.low <= 1 && ratio.high >= 1;
    wins += ratio.low > 1;
    losses += ratio.high < 1;
    if (i > 0) longest = std::max(longest, took);  // the first builds and admits
    rows.push_back({{"value", ratio.value}, {"low", ratio.low}, {"high", ratio.high}, {"noise_floor", evaluation.noise_floor}, {"seconds", took},
                    {"judge_share", evaluation.seconds.judge / (evaluation.seconds.total - evaluation.seconds.build - evaluation.seconds.admission)}});
    std::printf("%3d  %.4f [%.4f, %.4f]  noise %.4f  %.2f s\n", i + 1, ratio.value, ratio.low, ratio.high, evaluation.noise_floor, took);
    std::fflush(stdout);
  }
  std::printf("%d judgements: interval contains 1 in %d, called faster in %d, called slower in %d; longest %.2f s\n", options.runs, contains_one, wins, losses, longest);
  if (!options.json.empty())
    WHET_OK(write_file_atomically(options.json, Json{{"runs", options.runs}, {"contains_one", contains_one}, {"faster", wins}, {"slower", losses}, {"set", options.set}, {"rows", rows}}.dump(1)));
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
    else if (flag == "--runs") options.runs = std::atoi(value.c_str());
    else if (flag == "--seconds") options.seconds = std::atof(value.c_str());
    else return std::fprintf(stderr, "aa: unknown flag %s\n", argv[i]), 2;
  }
  if (auto status = whet::run(options); !status) return std::fprintf(stderr, "aa: %s\n", status.error().what.c_str()), 3;
  return 0;
}
