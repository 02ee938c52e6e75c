// SPDX-License-Identifier: Apache-2.0
#include "ledger/export.h"

#include <algorithm>
#include <cmath>

#include "base/json_impl.h"

namespace whet {
namespace {

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

// FlashInfer-Bench's null table: PASSED has correctness and performance, INCORRECT_NUMERICAL only correctness, all others neither.
std::string_view status_of(Code code, bool timed) {
  const int number = static_cast<int>(code);
  if (code == Code::correct && timed) return "PASSED";
  if (number >= 100 && number < 200) return "COMPILE_ERROR";
  if (code == Code::hung) return "TIMEOUT";
  if (code == Code::stale || code == Code::late || (number >= 300 && number < 400)) return "INCORRECT_NUMERICAL";
  return "RUNTIME_ERROR";
}

double fastest_baseline_ns(const WorkloadResult& result) {
  double fastest = std::numeric_limits<double>::quiet_NaN();
  for (const Trial& trial : result.trials)
    if (trial.role == "baseline" && trial.verdict.correct()) fastest = std::fmin(fastest, trial.median_ns(Column::flushed));
  return fastest;
}

// {hardware, libs} out of what the worker knows; its keys may change, so everything is looked for and nothing required.
Json environment_json(const std::string& environment) {
  Json result = {{"hardware", "unknown"}, {"libs", Json::object()}};
  auto json = parse_json(environment, "environment");
  if (!json || !json->is_object()) return result;
  const Json cpu = json->value("cpu", Json());
  for (const Json& name : {cpu, cpu.is_object() ? cpu.value("model", cpu.value("name", Json())) : Json()})
    if (name.is_string()) result["hardware"] = name;
  for (const char* key : {"libraries", "libs"})
    if (json->contains(key) && (*json)[key].is_object())
      for (const auto& [name, version] : (*json)[key].items())
        if (version.is_string()) result["libs"][name] = version;
  if (json->contains("compiler") && (*json)["compiler"].is_string()) result["libs"]["compiler"] = (*json)["compiler"];
  return result;
}

Json performance_json(double ns, double reference_ns) {
  const bool known = std::isfinite(reference_ns);
  return {{"latency_ms", ns / 1e6}, {"reference_latency_ms", known ? reference_ns / 1e6 : 0.0}, {"speedup_factor", known ? reference_ns / ns : 0.0}};
}

Json ours(const Evaluation& evaluation, const WorkloadResult& result, const Trial& trial) {
  Json medians = Json::object();
  for (const auto& [column, samples] : trial.samples) medians[std::string(name_of(column))] = json_double(trial.median_ns(column));
  Json json = {{"evaluation", evaluation.id},
               {"task", evaluation.task},
               {"task_hash", evaluation.task_hash},
               {"workload", result.workload},
               {"family", result.family},
               {"role", trial.role},
               {"verdict", {{"code", static_cast<int>(trial.verdict.code)}, {"name", std::string(name_of(trial.verdict.code))}}},
               {"median_ns", std::move(medians)},
               {"noise_floor", json_double(evaluation.noise_floor)},
               {"reference_latency", "the fastest baseline of the same judgement"}};
  for (const SolutionFacts& facts : evaluation.solutions)
    if (facts.name == trial.solution && facts.role == trial.role) json["solution_hash"] = facts.hash;
  return json;
}

Json trace_json(const Evaluation& evaluation, const WorkloadResult& result, const Trial& trial, const Json& workload) {
  const double ns = trial.median_ns(Column::flushed);
  const std::string_view status = status_of(trial.verdict.code, ns > 0 && std::isfinite(ns));
  std::string log = trial.verdict.sentence;
  if (!trial.verdict.evidence.empty()) log += "\n" + trial.verdict.evidence;
  Json outcome = {{"status", std::string(status)},
                  {"environment", environment_json(evaluation.environment)},
                  {"timestamp", evaluation.started_at},
                  {"log", log},
                  {"correctness", nullptr},
                  {"performance", nullptr}};
  if (status == "PASSED" || status == "INCORRECT_NUMERICAL")
    outcome["correctness"] = {{"max_relative_error", json_double(trial.accuracy.worst_relative)},
                              {"max_absolute_error", json_double(trial.accuracy.worst_absolute)},
                              {"extra",
                               {{"worst_bound", json_double(trial.accuracy.worst_bound)},
                                {"worst_norm", json_double(trial.accuracy.worst_norm)},
                                {"draws_checked", trial.accuracy.draws_checked}}}};
  if (status == "PASSED") outcome["performance"] = performance_json(ns, fastest_baseline_ns(result));
  return {{"definition", result.definition}, {"workload", workload}, {"solution", trial.solution}, {"evaluation", std::move(outcome)},
          {"whet", ours(evaluation, result, trial)}};
}

}  // namespace

std::string csv_header() { return "evaluation,task,solution_judged,workload,family,solution,role,verdict,column,draw,position,ns,discarded\r\n"; }

std::string csv_rows(const Evaluation& evaluation) {
  std::string rows;
  for (const WorkloadResult& result : evaluation.workloads)
    for (const Trial& trial : result.trials) {
      const std::string begin =
          fmt::format("{},{},{},{},{},{},{},{}", csv_field(evaluation.id), csv_field(evaluation.task), csv_field(evaluation.solution), csv_field(result.workload),
                      csv_field(result.family), csv_field(trial.solution), csv_field(trial.role), name_of(trial.verdict.code));
      for (const auto& [column, samples] : trial.samples)
        for (const Sample& sample : samples)
          rows += fmt::format("{},{},{},{},{},{}\r\n", begin, name_of(column), sample.draw, sample.position, sample.ns, csv_field(sample.discarded));
    }
  return rows;
}

std::string trace_lines(const Evaluation& evaluation, const std::map<std::string, Json>& workloads) {
  std::string lines;
  for (const WorkloadResult& result : evaluation.workloads) {
    auto known = workloads.find(result.workload);
    const Json workload =
        known != workloads.end() ? known->second : Json{{"uuid", result.workload}, {"axes", Json::object()}, {"inputs", Json::object()}};
    for (const Trial& trial : result.trials) {
      if (trial.verdict.code == Code::not_run || trial.verdict.code == Code::cancelled) continue;
      lines += trace_json(evaluation, result, trial, workload).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
  }
  return lines;
}

}  // namespace whet
