// SPDX-License-Identifier: Apache-2.0
// What is read as an Evaluation, a Scoreboard or a request is written and read back the same. The reader is strict, so that arbitrary text hardly gets past
// its first key: the input also says how a sound document is damaged.
#include "record/evaluation.h"

#include <iterator>

#include "base/json_impl.h"
#include "fuzzed.h"
#include "record/request.h"

using namespace whet;

namespace {

Evaluation sound() {
  Evaluation evaluation;
  const Ratio ratio{1.5, 1.4, 1.6};
  Trial trial{"mine", "candidate", {Code::correct, "s", ""}, {}, {{Column::flushed, {{0, 0, 5, ""}, {1, 1, 7, "preempted"}}}, {Column::cold, {}}}};
  evaluation.solutions = {{"mine", "candidate", "h", "a", "n", {"g++"}, 1}};
  evaluation.workloads = {{"w", "d", "f", 10, {trial, trial}}};
  evaluation.remarks = {"r"};
  Scoreboard& board = evaluation.scoreboard;
  board.geomean_vs_fastest = ratio;
  board.geomean_vs["b"] = {ratio, 1};
  board.geomean_correct_only = std::pair(ratio, 1);
  board.workloads = {{"w", "f", "b", ratio, {{"b", ratio}}}};
  board.by_family["f"] = {1, 1, ratio, std::nullopt};
  board.goal_metric = "geomean_vs:b";
  board.goal_value = 1.3;
  return evaluation;
}

EvaluateRequest sound_request() {
  const std::string hash(64, 'a');
  EvaluateRequest request;
  request.task = {{"task.toml", hash}};
  request.solution = {"mine", {{"a.cc", hash}}};
  request.baselines = std::vector<SolutionRef>{{"b", {}}};
  request.workloads = {"w"};
  return request;
}

// Walks down by the bytes of `path` and puts `value` where it ends, or removes what is there.
void damage(Json& document, std::string_view path, const std::optional<Json>& value) {
  Json *node = &document, *parent = nullptr;
  std::size_t index = 0;
  for (char step : path) {
    if (!node->is_structured() || node->empty()) break;
    parent = node;
    index = static_cast<uint8_t>(step) % node->size();
    node = &*std::next(node->begin(), static_cast<std::ptrdiff_t>(index));
  }
  if (value)
    *node = *value;
  else if (parent)
    parent->erase(std::next(parent->begin(), static_cast<std::ptrdiff_t>(index)));
}

void read_all(const Json& json) {
  if (auto evaluation = evaluation_from_json(json, "f.json")) {
    const Json written = to_json(*evaluation);
    auto again = evaluation_from_json(written, "again");
    must(again && to_json(*again) == written, "an Evaluation is read back equal");
  }
  if (auto board = scoreboard_from_json(json, "f.json")) {
    const Json written = to_json(*board);
    auto again = scoreboard_from_json(written, "again");
    must(again && to_json(*again) == written, "a Scoreboard is read back equal");
  }
  if (auto request = evaluate_request_from_json(json, "f.json")) {
    auto again = evaluate_request_from_json(to_json(*request), "again");
    must(again && *again == *request, "a request is read back equal");
  } else {
    must(request.error().what.starts_with("f.json: "), "an error names the file");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  auto whole = parse_json(text, "f.json");
  if (whole) read_all(*whole);

  // Path, line feed, JSON text (or none: remove).
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::optional<Json> value;
  if (end + 1 < text.size()) {
    auto parsed = parse_json(text.substr(end + 1), "f.json");
    if (!parsed) return 0;
    value = *std::move(parsed);
  }
  for (Json document : {to_json(sound()), to_json(sound().scoreboard), to_json(sound_request())}) {
    damage(document, text.substr(0, end), value);
    read_all(document);
  }
  return 0;
}
