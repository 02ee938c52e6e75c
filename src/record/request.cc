// SPDX-License-Identifier: Apache-2.0
#include "record/request.h"

#include "record/exact_reader.h"

namespace whet {
namespace {

constexpr double kLeastCallLimit = 0.001;

Json manifest_json(const Manifest& manifest) {
  Json json = Json::object();
  for (const auto& [path, hash] : manifest) json[path] = hash;
  return json;
}

void check_manifest(const ExactReader& in, const Manifest& manifest, const char* key) {
  for (const auto& [path, hash] : manifest) {
    bool hex = hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hex) in.complain(key, fmt::format("{}: expected a SHA-256 of 64 lower-case hex digits, found \"{}\"", path, hash));
    // The worker writes these paths below a folder of its own.
    bool inside = !path.empty() && path.front() != '/' && ("/" + path + "/").find("/../") == std::string::npos && path.find('\0') == std::string::npos;
    if (!inside) in.complain(key, fmt::format("\"{}\": expected a relative path that stays inside its folder", path));
  }
}

SolutionRef solution_from(const Json& json, const ExactReader& parent, std::string_view key, std::ptrdiff_t index) {
  auto read = [](ExactReader& in) {
    SolutionRef solution;
    solution.name = in.string("name");
    if (solution.name.empty()) in.complain("name", "expected a non-empty string");
    solution.manifest = in.texts("manifest");
    check_manifest(in, solution.manifest, "manifest");
    in.finish();
    return solution;
  };
  if (index < 0) {
    ExactReader in(json, parent, key);
    return read(in);
  }
  ExactReader in(json, parent, key, static_cast<std::size_t>(index));
  return read(in);
}

std::vector<Column> columns_from(const ExactReader& in, const Json& value) {
  std::vector<Column> columns;
  for (const std::string& name : in.strings_of(value, "columns")) {
    auto column = column_from_name(name);
    if (!column) {
      in.complain("columns", fmt::format("expected flushed, resident, cold, host, end_to_end or graph, found \"{}\"", name));
      break;
    }
    columns.push_back(*column);
  }
  return columns;
}

void read_number(ExactReader& in, const char* key, double& value, double low) {
  const Json* member = in.optional_member(key);
  if (!member) return;
  value = in.number_of(*member, key);
  if (!(value >= low)) in.complain(key, fmt::format("expected a number of at least {}, found {}", low, brief(*member)));
}

void read_count(ExactReader& in, const char* key, int& value) {
  const Json* member = in.optional_member(key);
  if (!member) return;
  value = in.integer_of(*member, key);
  if (value < 1) in.complain(key, fmt::format("expected at least 1, found {}", brief(*member)));
}

void read_hidden(ExactReader& in, int& value) {
  const Json* member = in.optional_member("hidden");
  if (!member) return;
  value = in.integer_of(*member, "hidden");
  if (value < 0 || value > kMostHidden) in.complain("hidden", fmt::format("expected 0 to {}, found {}", kMostHidden, brief(*member)));
}

void read_flag(ExactReader& in, const char* key, bool& value) {
  const Json* member = in.optional_member(key);
  if (!member) return;
  if (!member->is_boolean()) return in.complain(key, "expected true or false, found " + brief(*member));
  value = member->get<bool>();
}

void read_baselines(ExactReader& in, EvaluateRequest& request) {
  const Json* member = in.optional_member("baselines");
  if (!member || member->is_null()) return;
  if (!member->is_array()) return in.complain("baselines", "expected a list, found " + brief(*member));
  request.baselines.emplace();
  for (std::size_t i = 0; i < member->size() && !in.failed(); ++i)
    request.baselines->push_back(solution_from((*member)[i], in, "baselines", static_cast<std::ptrdiff_t>(i)));
}

void read_request(ExactReader& in, EvaluateRequest& request) {
  request.task = in.texts("task");
  check_manifest(in, request.task, "task");
  if (const Json* member = in.member("solution")) request.solution = solution_from(*member, in, "solution", -1);
  read_baselines(in, request);
  if (const Json* member = in.optional_member("set")) request.set = in.string_of(*member, "set");
  if (const Json* member = in.optional_member("workloads")) request.workloads = in.strings_of(*member, "workloads");
  if (const Json* member = in.optional_member("columns")) request.columns = columns_from(in, *member);
  read_count(in, "min_draws", request.min_draws);
  read_count(in, "max_draws", request.max_draws);
  read_number(in, "seconds_per_workload", request.seconds_per_workload, 0);
  read_number(in, "target_half_width", request.target_half_width, 0);
  read_number(in, "give_up_below", request.give_up_below, 0);
  read_number(in, "call_limit_seconds", request.call_limit_seconds, kLeastCallLimit);
  read_hidden(in, request.hidden);
  read_flag(in, "admission", request.admission);
  read_flag(in, "noise_floor", request.noise_floor);
  if (const Json* member = in.optional_member("confirm_of")) request.confirm_of = in.string_of(*member, "confirm_of");
  if (request.max_draws < request.min_draws)
    in.complain("max_draws", fmt::format("expected at least min_draws, which is {}, found {}", request.min_draws, request.max_draws));
  in.finish();
}

Json solution_json(const SolutionRef& solution) { return {{"name", solution.name}, {"manifest", manifest_json(solution.manifest)}}; }

}  // namespace

Json to_json(const EvaluateRequest& request) {
  Json columns = Json::array();
  for (Column column : request.columns) columns.push_back(std::string(name_of(column)));
  Json json = {{"task", manifest_json(request.task)}, {"solution", solution_json(request.solution)}};
  if (request.baselines) {
    json["baselines"] = Json::array();
    for (const SolutionRef& baseline : *request.baselines) json["baselines"].push_back(solution_json(baseline));
  }
  json["set"] = request.set;
  json["workloads"] = request.workloads;
  json["columns"] = std::move(columns);
  json["min_draws"] = request.min_draws;
  json["max_draws"] = request.max_draws;
  json["seconds_per_workload"] = json_double(request.seconds_per_workload);
  json["target_half_width"] = json_double(request.target_half_width);
  json["give_up_below"] = json_double(request.give_up_below);
  json["call_limit_seconds"] = json_double(request.call_limit_seconds);
  json["hidden"] = request.hidden;
  json["admission"] = request.admission;
  json["noise_floor"] = request.noise_floor;
  json["confirm_of"] = request.confirm_of;
  return json;
}

Expected<EvaluateRequest> evaluate_request_from_json(const Json& json, const std::string& where) {
  ExactReader::Failure failure{where, {}};
  ExactReader in(json, failure);
  EvaluateRequest request;
  read_request(in, request);
  if (failure.error) return std::unexpected(*failure.error);
  return request;
}

}  // namespace whet
