// SPDX-License-Identifier: Apache-2.0
#include "record/scoreboard.h"

#include <set>

#include "record/exact_reader.h"
#include "record/scoreboard_json.h"

namespace whet {
namespace {

constexpr std::size_t kWorstShown = 3;
constexpr std::string_view kVersus = "geomean_vs:";

Json counted_json(const std::pair<Ratio, int>& counted) {
  Json json = to_json(counted.first);
  json["n"] = counted.second;
  return json;
}

Json optional_json(const std::optional<Ratio>& ratio) { return ratio ? to_json(*ratio) : Json(nullptr); }

Ratio read_ratio(ExactReader& in) { return {in.number("value"), in.number("low"), in.number("high")}; }

Ratio ratio_from(const Json& json, const ExactReader& parent, std::string_view key) {
  ExactReader in(json, parent, key);
  Ratio ratio = read_ratio(in);
  in.finish();
  return ratio;
}

std::pair<Ratio, int> counted_from(const Json& json, const ExactReader& parent, std::string_view key) {
  ExactReader in(json, parent, key);
  std::pair<Ratio, int> counted{read_ratio(in), 0};
  counted.second = in.integer("n");
  in.finish();
  return counted;
}

std::optional<Ratio> optional_from(ExactReader& in, const char* key) {
  const Json* value = in.member(key);
  if (!value || value->is_null()) return std::nullopt;
  return ratio_from(*value, in, key);
}

Json workload_json(const ScoredWorkload& scored) {
  Json versus = Json::object();
  for (const auto& [baseline, ratio] : scored.versus) versus[baseline] = to_json(ratio);
  return {{"workload", scored.workload},
          {"family", scored.family},
          {"fastest", scored.fastest},
          {"versus_fastest", to_json(scored.versus_fastest)},
          {"versus", std::move(versus)}};
}

ScoredWorkload workload_from(const Json& json, const ExactReader& parent, std::size_t index) {
  ExactReader in(json, parent, "workloads", index);
  ScoredWorkload scored;
  scored.workload = in.string("workload");
  scored.family = in.string("family");
  scored.fastest = in.string("fastest");
  if (const Json* value = in.member("versus_fastest")) scored.versus_fastest = ratio_from(*value, in, "versus_fastest");
  for (const auto& [baseline, ratio] : in.object("versus").items()) scored.versus[baseline] = ratio_from(ratio, in, baseline);
  in.finish();
  return scored;
}

Json family_json(const FamilyScore& score) {
  return {{"workloads", score.workloads},
          {"correct", score.correct},
          {"geomean", optional_json(score.geomean)},
          {"geomean_without", optional_json(score.geomean_without)}};
}

FamilyScore family_from(const Json& json, const ExactReader& parent, std::string_view family) {
  ExactReader in(json, parent, family);
  FamilyScore score;
  score.workloads = in.integer("workloads");
  score.correct = in.integer("correct");
  score.geomean = optional_from(in, "geomean");
  score.geomean_without = optional_from(in, "geomean_without");
  in.finish();
  return score;
}

// Under the key of the number that has to reach it: {"geomean_vs_fastest": 1.3} or {"geomean_vs": {"onednn": 1.3}}.
Json goal_json(const Scoreboard& board) {
  Json json = Json::object();
  if (board.goal_metric.empty()) return json;
  if (board.goal_metric.starts_with(kVersus))
    json["geomean_vs"] = Json::object({{board.goal_metric.substr(kVersus.size()), json_double(board.goal_value)}});
  else
    json[board.goal_metric] = json_double(board.goal_value);
  return json;
}

void read_goal(ExactReader& in, Scoreboard& board) {
  const Json& goal = in.object("goal");
  if (goal.size() > 1) in.complain("goal", "expected at most one key, found " + brief(goal));
  if (goal.empty() || in.failed()) return;
  const std::string& key = goal.begin().key();
  const Json& value = goal.begin().value();
  if (!value.is_object()) {
    board.goal_metric = key;
    board.goal_value = in.number_of(value, "goal");
  } else if (key == "geomean_vs" && value.size() == 1) {
    board.goal_metric = std::string(kVersus) + value.begin().key();
    board.goal_value = in.number_of(value.begin().value(), "goal");
  } else {
    in.complain("goal", "expected a number or {\"geomean_vs\": {BASELINE: number}}, found " + brief(goal));
  }
}

Json worst_json(const Scoreboard& board) {
  Json worst = Json::array();
  for (std::size_t i = 0; i < board.workloads.size() && i < kWorstShown; ++i)
    worst.push_back({{"workload", board.workloads[i].workload}, {"ratio", to_json(board.workloads[i].versus_fastest)}});
  return worst;
}

// A baseline that ran somewhere but has no geomean stands there with null.
Json versus_json(const Scoreboard& board) {
  std::set<std::string> names;
  for (const auto& [baseline, counted] : board.geomean_vs) names.insert(baseline);
  for (const ScoredWorkload& scored : board.workloads)
    for (const auto& [baseline, ratio] : scored.versus) names.insert(baseline);
  Json json = Json::object();
  for (const std::string& name : names) {
    auto it = board.geomean_vs.find(name);
    json[name] = it == board.geomean_vs.end() ? Json(nullptr) : counted_json(it->second);
  }
  return json;
}

}  // namespace

Json to_json(const Ratio& ratio) {
  return {{"value", json_double(ratio.value)}, {"low", json_double(ratio.low)}, {"high", json_double(ratio.high)}};
}

Json to_json(const Scoreboard& board) {
  Json workloads = Json::array(), families = Json::object();
  for (const ScoredWorkload& scored : board.workloads) workloads.push_back(workload_json(scored));
  for (const auto& [family, score] : board.by_family) families[family] = family_json(score);
  return {{"workloads_total", board.workloads_total},
          {"workloads_correct", board.workloads_correct},
          {"at_par", board.at_par},
          {"geomean_vs_fastest", optional_json(board.geomean_vs_fastest)},
          {"geomean_vs", versus_json(board)},
          {"geomean_correct_only", board.geomean_correct_only ? counted_json(*board.geomean_correct_only) : Json(nullptr)},
          {"worst", worst_json(board)},
          {"by_family", std::move(families)},
          {"goal", goal_json(board)},
          {"goal_met", board.goal_met},
          {"workloads", std::move(workloads)}};
}

Scoreboard read_scoreboard(ExactReader& in) {
  Scoreboard board;
  board.workloads_total = in.integer("workloads_total");
  board.workloads_correct = in.integer("workloads_correct");
  board.at_par = in.integer("at_par");
  board.geomean_vs_fastest = optional_from(in, "geomean_vs_fastest");
  for (const auto& [baseline, value] : in.object("geomean_vs").items())
    if (!value.is_null()) board.geomean_vs[baseline] = counted_from(value, in, baseline);
  if (const Json* value = in.member("geomean_correct_only"); value && !value->is_null())
    board.geomean_correct_only = counted_from(*value, in, "geomean_correct_only");
  for (const auto& [family, value] : in.object("by_family").items()) board.by_family[family] = family_from(value, in, family);
  read_goal(in, board);
  board.goal_met = in.boolean("goal_met");
  const Json& workloads = in.array("workloads");
  for (std::size_t i = 0; i < workloads.size() && !in.failed(); ++i) board.workloads.push_back(workload_from(workloads[i], in, i));
  if (in.array("worst") != worst_json(board)) in.complain("worst", "does not agree with `workloads`");
  in.finish();
  return board;
}

Expected<Scoreboard> scoreboard_from_json(const Json& json, const std::string& where) {
  ExactReader::Failure failure{where, {}};
  ExactReader in(json, failure);
  Scoreboard board = read_scoreboard(in);
  if (failure.error) return std::unexpected(*failure.error);
  return board;
}

}  // namespace whet
