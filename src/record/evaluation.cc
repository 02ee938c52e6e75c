// SPDX-License-Identifier: Apache-2.0
#include "record/evaluation.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "record/exact_reader.h"
#include "record/scoreboard_json.h"

namespace whet {
namespace {

constexpr std::array<std::pair<Column, std::string_view>, 6> kColumns{{{Column::flushed, "flushed"},
                                                                       {Column::resident, "resident"},
                                                                       {Column::cold, "cold"},
                                                                       {Column::host, "host"},
                                                                       {Column::end_to_end, "end_to_end"},
                                                                       {Column::graph, "graph"}}};

// One list per field, because there are thousands of samples; `discarded` names only the few that were.
Json samples_json(const std::vector<Sample>& samples) {
  Json draws = Json::array(), positions = Json::array(), ns = Json::array(), discarded = Json::object();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    draws.push_back(samples[i].draw);
    positions.push_back(samples[i].position);
    ns.push_back(json_double(samples[i].ns));
    if (!samples[i].discarded.empty()) discarded[std::to_string(i)] = samples[i].discarded;
  }
  return {{"draws", std::move(draws)}, {"positions", std::move(positions)}, {"ns", std::move(ns)}, {"discarded", std::move(discarded)}};
}

void read_discarded(ExactReader& in, std::vector<Sample>& samples) {
  for (const auto& [key, reason] : in.texts("discarded")) {
    bool digits = !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
    std::size_t index = digits ? std::stoul(key) : samples.size();
    if (index >= samples.size() || std::to_string(index) != key || reason.empty())
      return in.complain("discarded", fmt::format("\"{}\": expected the index of a sample and a reason", key));
    samples[index].discarded = reason;
  }
}

std::vector<Sample> samples_from(const Json& json, const ExactReader& parent, std::string_view column) {
  ExactReader in(json, parent, column);
  const Json &draws = in.array("draws"), &positions = in.array("positions"), &ns = in.array("ns");
  if (draws.size() != ns.size() || positions.size() != ns.size())
    in.complain("ns", fmt::format("expected as many draws and positions as ns, found {}, {} and {}", draws.size(), positions.size(), ns.size()));
  if (in.failed()) return {};
  std::vector<Sample> samples(ns.size());
  for (std::size_t i = 0; i < ns.size() && !in.failed(); ++i) {
    auto index = static_cast<std::ptrdiff_t>(i);
    samples[i] = {in.integer_of(draws[i], "draws", index), in.integer_of(positions[i], "positions", index), in.number_of(ns[i], "ns", index), ""};
  }
  read_discarded(in, samples);
  in.finish();
  return samples;
}

Json accuracy_json(const Accuracy& accuracy) {
  return {{"worst_bound", json_double(accuracy.worst_bound)},
          {"worst_absolute", json_double(accuracy.worst_absolute)},
          {"worst_relative", json_double(accuracy.worst_relative)},
          {"worst_norm", json_double(accuracy.worst_norm)},
          {"draws_checked", accuracy.draws_checked}};
}

Accuracy accuracy_from(const Json& json, const ExactReader& parent) {
  ExactReader in(json, parent, "accuracy");
  Accuracy accuracy;
  accuracy.worst_bound = in.number("worst_bound");
  accuracy.worst_absolute = in.number("worst_absolute");
  accuracy.worst_relative = in.number("worst_relative");
  accuracy.worst_norm = in.number("worst_norm");
  accuracy.draws_checked = in.integer("draws_checked");
  in.finish();
  return accuracy;
}

Verdict verdict_from(const Json& json, const ExactReader& parent) {
  ExactReader in(json, parent, "verdict");
  Verdict verdict;
  int code = in.integer("code");
  if (!is_known(code)) in.complain("code", fmt::format("{} is not the number of a Verdict", code));
  verdict.code = static_cast<Code>(code);
  if (std::string name = in.string("name"); !in.failed() && name != name_of(verdict.code))
    in.complain("name", fmt::format("expected \"{}\" for the code {}, found \"{}\"", name_of(verdict.code), code, name));
  verdict.sentence = in.string("sentence");
  verdict.evidence = in.string("evidence");
  in.finish();
  return verdict;
}

Json trial_json(const Trial& trial) {
  Json samples = Json::object();
  for (const auto& [column, list] : trial.samples) samples[std::string(name_of(column))] = samples_json(list);
  Json json = {{"solution", trial.solution},
          {"role", trial.role},
          {"verdict", to_json(trial.verdict)},
          {"accuracy", accuracy_json(trial.accuracy)},
          {"samples", std::move(samples)}};
  if (trial.slope_ns != 0) json["slope_ns"] = json_double(trial.slope_ns);
  return json;
}

Trial trial_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "trials", index);
  Trial trial;
  trial.solution = in.string("solution");
  trial.role = in.string("role");
  if (const Json* value = in.member("verdict")) trial.verdict = verdict_from(*value, in);
  if (const Json* value = in.member("accuracy")) trial.accuracy = accuracy_from(*value, in);
  for (const auto& [name, value] : in.object("samples").items()) {
    auto column = column_from_name(name);
    if (!column) {
      in.complain("samples", fmt::format("unknown column \"{}\"; expected flushed, resident, cold, host, end_to_end or graph", name));
      break;
    }
    trial.samples[*column] = samples_from(value, in, name);
  }
  if (const Json* slope = in.optional_member("slope_ns")) trial.slope_ns = in.number_of(*slope, "slope_ns");
  in.finish();
  return trial;
}

Json workload_json(const WorkloadResult& result) {
  Json trials = Json::array();
  for (const Trial& trial : result.trials) trials.push_back(trial_json(trial));
  return {{"workload", result.workload},
          {"definition", result.definition},
          {"family", result.family},
          {"floor_ns", json_double(result.floor_ns)},
          {"trials", std::move(trials)}};
}

WorkloadResult workload_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "workloads", index);
  WorkloadResult result;
  result.workload = in.string("workload");
  result.definition = in.string("definition");
  result.family = in.string("family");
  result.floor_ns = in.number("floor_ns");
  const Json& trials = in.array("trials");
  // candidate() is the first Trial, so there has to be one.
  if (trials.empty()) in.complain("trials", "expected at least the candidate's, found none");
  for (std::size_t i = 0; i < trials.size() && !in.failed(); ++i) result.trials.push_back(trial_from(trials[i], in, i));
  in.finish();
  return result;
}

Json hidden_json(const HiddenResult& result) {
  return {{"workload", result.workload}, {"verdict", to_json(result.verdict)}, {"accuracy", accuracy_json(result.accuracy)}};
}

HiddenResult hidden_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "hidden", index);
  HiddenResult result;
  result.workload = in.string("workload");
  if (const Json* value = in.member("verdict")) result.verdict = verdict_from(*value, in);
  if (const Json* value = in.member("accuracy")) result.accuracy = accuracy_from(*value, in);
  in.finish();
  return result;
}

Json facts_json(const SolutionFacts& facts) {
  Json json = {{"name", facts.name},         {"role", facts.role},   {"hash", facts.hash},
               {"artifact", facts.artifact}, {"notes", facts.notes}, {"commands", facts.commands},
               {"build_seconds", json_double(facts.build_seconds)}};
  if (!facts.device.empty()) json["device_code"] = to_json(facts.device);
  return json;
}

SolutionFacts facts_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "solutions", index);
  SolutionFacts facts;
  facts.name = in.string("name");
  facts.role = in.string("role");
  facts.hash = in.string("hash");
  facts.artifact = in.string("artifact");
  facts.notes = in.string("notes");
  facts.commands = in.strings("commands");
  facts.build_seconds = in.number("build_seconds");
  if (const Json* value = in.optional_member("device_code")) {
    ExactReader device(*value, in, "device_code");
    facts.device = read_device_code(device);
  }
  in.finish();
  return facts;
}

Json seconds_json(const TimeSpent& seconds) {
  return {{"build", json_double(seconds.build)},         {"reference", json_double(seconds.reference)},
          {"solutions", json_double(seconds.solutions)}, {"judge", json_double(seconds.judge)},
          {"total", json_double(seconds.total)},         {"admission", json_double(seconds.admission)}};
}

TimeSpent seconds_from(const Json& json, const ExactReader& parent) {
  ExactReader in(json, parent, "seconds");
  TimeSpent seconds;
  seconds.build = in.number("build");
  seconds.reference = in.number("reference");
  seconds.solutions = in.number("solutions");
  seconds.judge = in.number("judge");
  seconds.total = in.number("total");
  seconds.admission = in.number("admission");
  in.finish();
  return seconds;
}

Evaluation read_evaluation(ExactReader& in) {
  Evaluation evaluation;
  evaluation.id = in.string("id");
  evaluation.task = in.string("task");
  evaluation.task_hash = in.string("task_hash");
  evaluation.solution = in.string("solution");
  evaluation.solution_hash = in.string("solution_hash");
  evaluation.set = in.string("set");
  evaluation.started_at = in.string("started_at");
  evaluation.worker = in.string("worker");
  evaluation.secret = in.string("secret");
  if (const Json* value = in.member("verdict")) evaluation.verdict = verdict_from(*value, in);
  const Json& solutions = in.array("solutions");
  for (std::size_t i = 0; i < solutions.size() && !in.failed(); ++i) evaluation.solutions.push_back(facts_from(solutions[i], in, i));
  const Json& workloads = in.array("workloads");
  for (std::size_t i = 0; i < workloads.size() && !in.failed(); ++i) evaluation.workloads.push_back(workload_from(workloads[i], in, i));
  // Evaluations that were made before there were any have no such member.
  if (const Json* hidden = in.optional_member("hidden")) {
    if (!hidden->is_array()) in.complain("hidden", "expected a list");
    for (std::size_t i = 0; i < hidden->size() && !in.failed(); ++i) evaluation.hidden.push_back(hidden_from((*hidden)[i], in, i));
  }
  evaluation.noise_floor = in.number("noise_floor");
  if (const Json* value = in.member("scoreboard")) {
    ExactReader board(*value, in, "scoreboard");
    evaluation.scoreboard = read_scoreboard(board);
  }
  if (const Json* value = in.member("seconds")) evaluation.seconds = seconds_from(*value, in);
  evaluation.environment = in.string("environment");
  evaluation.remarks = in.strings("remarks");
  in.finish();
  return evaluation;
}

}  // namespace

std::string_view name_of(Column column) {
  for (const auto& [known, name] : kColumns)
    if (known == column) return name;
  return "unknown";
}

std::optional<Column> column_from_name(std::string_view name) {
  for (const auto& [column, known] : kColumns)
    if (known == name) return column;
  return std::nullopt;
}

double Trial::median_ns(Column column) const {
  std::vector<double> used;
  if (auto it = samples.find(column); it != samples.end())
    for (const Sample& sample : it->second)
      if (sample.discarded.empty()) used.push_back(sample.ns);
  if (used.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(used.begin(), used.end());
  std::size_t middle = used.size() / 2;
  return used.size() % 2 ? used[middle] : (used[middle - 1] + used[middle]) / 2;
}

const Trial* WorkloadResult::trial(std::string_view solution) const {
  for (const Trial& trial : trials)
    if (trial.solution == solution) return &trial;
  return nullptr;
}

Json to_json(const Verdict& verdict) {
  return {{"code", static_cast<int>(verdict.code)},
          {"name", std::string(name_of(verdict.code))},
          {"sentence", verdict.sentence},
          {"evidence", verdict.evidence}};
}

Json to_json(const Evaluation& evaluation) {
  Json solutions = Json::array(), workloads = Json::array(), hidden = Json::array();
  for (const SolutionFacts& facts : evaluation.solutions) solutions.push_back(facts_json(facts));
  for (const WorkloadResult& result : evaluation.workloads) workloads.push_back(workload_json(result));
  for (const HiddenResult& result : evaluation.hidden) hidden.push_back(hidden_json(result));
  return {{"id", evaluation.id},
          {"task", evaluation.task},
          {"task_hash", evaluation.task_hash},
          {"solution", evaluation.solution},
          {"solution_hash", evaluation.solution_hash},
          {"set", evaluation.set},
          {"started_at", evaluation.started_at},
          {"worker", evaluation.worker},
          {"secret", evaluation.secret},
          {"verdict", to_json(evaluation.verdict)},
          {"solutions", std::move(solutions)},
          {"workloads", std::move(workloads)},
          {"hidden", std::move(hidden)},
          {"noise_floor", json_double(evaluation.noise_floor)},
          {"scoreboard", to_json(evaluation.scoreboard)},
          {"seconds", seconds_json(evaluation.seconds)},
          {"environment", evaluation.environment},
          {"remarks", evaluation.remarks}};
}

Expected<Evaluation> evaluation_from_json(const Json& json, const std::string& where) {
  ExactReader::Failure failure{where, {}};
  ExactReader in(json, failure);
  Evaluation evaluation = read_evaluation(in);
  if (failure.error) return std::unexpected(*failure.error);
  return evaluation;
}

std::string evaluation_id(const Evaluation& evaluation) {
  Json json = to_json(evaluation);
  json["id"] = "";
  return "e" + sha256_hex(json.dump(-1, ' ', false, Json::error_handler_t::replace)).substr(0, 16);
}

}  // namespace whet
