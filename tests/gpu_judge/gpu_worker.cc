// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu_judge/gpu_worker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/file.h"
#include "base/hash.h"
#include "base/json_impl.h"

namespace whet {
namespace {

using Files = std::map<std::string, std::string>;

std::filesystem::path from_environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value ? value : otherwise;
}

std::filesystem::path tests_folder() { return from_environment("WHET_SOURCE_DIR", WHET_SOURCE_DIR) / "tests"; }

Files read_folder(const std::filesystem::path& folder) {
  auto files = read_tree(folder);
  if (!files) ADD_FAILURE() << files.error().what;
  return files ? *files : Files{};
}

Files task_files() {
  Files files = read_folder(tests_folder() / "gpu_task");
  const std::string shared = files["operator.cuh"];
  files.erase("operator.cuh");
  for (const char* name : {"simple", "start"}) files[std::string("solutions/") + name + "/operator.cuh"] = shared;
  return files;
}

Files solution_files(const std::string& folder) {
  Files files = read_folder(tests_folder() / folder);
  files["operator.cuh"] = read_folder(tests_folder() / "gpu_task")["operator.cuh"];
  return files;
}

}  // namespace

GpuWorker& GpuWorker::get() {
  static GpuWorker worker;
  return worker;
}

GpuWorker::GpuWorker() {
  const std::filesystem::path binaries = from_environment("WHET_BINARY_DIR", WHET_BINARY_DIR);
  WorkerOptions options;
  options.program_folder = (binaries / "bin").string();
  options.cache_folder = (binaries / "gpu_judge_test_cache").string();
  options.environment = {{"PATH", "/usr/bin:/bin"}, {"LANG", "C.UTF-8"}};
  for (const char* name : {"LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES"})
    if (const char* value = std::getenv(name)) options.environment[name] = value;
  auto client = open_worker(options);
  if (!client) {
    problem_ = client.error().what;
    return;
  }
  client_ = std::move(*client);
  auto hello = client_->call("hello", Json::object());
  if (!hello) {
    problem_ = hello.error().what;
    return;
  }
  has_gpu_ = hello->at("targets").dump().find("cuda") != std::string::npos;
  if (!has_gpu_) problem_ = "the worker finds no GPU here";
}

Manifest GpuWorker::send(const Files& files) {
  Manifest manifest;
  Files blobs;
  for (const auto& [path, contents] : files) blobs[manifest[path] = sha256_hex(contents)] = contents;
  if (auto status = client_->put_blobs(blobs); !status) ADD_FAILURE() << status.error().what;
  return manifest;
}

Evaluation GpuWorker::judge(EvaluateRequest request, const std::string& folder) {
  if (!client_) return {};
  const auto begin = std::chrono::steady_clock::now();
  request.task = send(task_files());
  request.solution = {std::filesystem::path(folder).filename(), send(solution_files(folder))};
  request.noise_floor = false;
  auto answer = client_->call("evaluate", to_json(request));
  if (!answer) {
    ADD_FAILURE() << folder << ": " << answer.error().what;
    return {};
  }
  auto evaluation = evaluation_from_json(*answer, folder);
  if (!evaluation) {
    ADD_FAILURE() << evaluation.error().what;
    return {};
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::cout << fmt::format("{} ({:.1f} s)\n{}", folder, seconds, describe(*evaluation)) << std::flush;
  return std::move(*evaluation);
}

std::string describe(const Evaluation& evaluation) {
  const auto microseconds = [](const Trial* trial, Column column) { return trial ? trial->median_ns(column) / 1e3 : -1; };
  std::string text = fmt::format("  {} {}: {}\n", static_cast<int>(evaluation.verdict.code), name_of(evaluation.verdict.code), evaluation.verdict.sentence.substr(0, 300));
  if (!evaluation.verdict.evidence.empty()) text += "  | " + evaluation.verdict.evidence.substr(0, 1500) + "\n";
  for (const WorkloadResult& result : evaluation.workloads) {
    const Trial& candidate = result.candidate();
    const Trial* simple = result.trial("simple");
    text += fmt::format("    {:8} {:3} {:7.2f} us, slope {:7.2f}, host {:6.2f}; simple {:7.2f} us (slope {:.2f}); {} checked; {}\n", result.workload,
                        static_cast<int>(candidate.verdict.code), microseconds(&candidate, Column::flushed), candidate.slope_ns / 1e3, microseconds(&candidate, Column::host),
                        microseconds(simple, Column::flushed), simple ? simple->slope_ns / 1e3 : 0, candidate.accuracy.draws_checked, candidate.verdict.sentence.substr(0, 200));
    if (simple && !simple->verdict.correct()) text += fmt::format("      simple: {} {}\n", static_cast<int>(simple->verdict.code), simple->verdict.sentence.substr(0, 300));
  }
  for (const HiddenResult& result : evaluation.hidden)
    if (!result.verdict.correct()) text += fmt::format("    hidden {}: {} {}\n", result.workload, static_cast<int>(result.verdict.code), result.verdict.sentence.substr(0, 200));
  for (const std::string& remark : evaluation.remarks) text += "    remark: " + remark.substr(0, 200) + "\n";
  return text;
}

}  // namespace whet
