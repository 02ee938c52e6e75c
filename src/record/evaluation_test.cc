// SPDX-License-Identifier: Apache-2.0
#include "record/evaluation.h"

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <random>

#include "base/json_impl.h"
#include "record/request.h"

namespace whet {
namespace {

using ::testing::HasSubstr;

// Records drawn at random, odd characters and special numbers included.
class Generator {
 public:
  explicit Generator(uint64_t seed) : engine_(seed) {}

  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  bool chance() { return below(2) == 0; }
  std::string text() {
    static const std::vector<std::string> kTexts = {"", "a", "naïve ✓", "line\nfeed\t\"quoted\" \\ back", std::string("nul\0in", 6), "o[3,0,2]", "NaN"};
    return kTexts[static_cast<std::size_t>(below(static_cast<int>(kTexts.size())))] + std::to_string(below(1000));
  }
  double number() {
    switch (below(special_ ? 9 : 6)) {
      case 0: return 0.0;
      case 1: return -0.0;
      case 2: return 5e-324;
      case 3: return 1.7976931348623157e308;
      case 6: return std::numeric_limits<double>::infinity();
      case 7: return -std::numeric_limits<double>::infinity();
      case 8: return std::numeric_limits<double>::quiet_NaN();
      default: return std::ldexp(static_cast<double>(engine_()), below(200) - 150);
    }
  }
  void with_special_numbers() { special_ = true; }

  Verdict verdict() { return {all_codes()[static_cast<std::size_t>(below(static_cast<int>(all_codes().size())))].code, text(), text()}; }
  Ratio ratio() { return {number(), number(), number()}; }
  std::optional<Ratio> maybe_ratio() { return chance() ? std::optional(ratio()) : std::nullopt; }
  Sample sample() { return {below(100), below(3), number(), below(5) ? "" : text() + "x"}; }
  Trial trial() {
    Trial trial{text(), text(), verdict(), {number(), number(), number(), number(), below(50)}, {}};
    for (Column column : {Column::flushed, Column::resident, Column::cold})
      if (chance())
        for (int i = below(20); i >= 0; --i) trial.samples[column].push_back(sample());
    if (chance()) trial.samples[Column::cold].clear();
    return trial;
  }
  WorkloadResult workload() {
    WorkloadResult result{text(), text(), text(), number(), {}};
    for (int i = below(3); i >= 0; --i) result.trials.push_back(trial());
    return result;
  }
  Scoreboard scoreboard() {
    Scoreboard board;
    board.workloads_total = below(30);
    board.workloads_correct = below(30);
    board.at_par = below(30);
    board.geomean_vs_fastest = maybe_ratio();
    if (chance()) board.geomean_correct_only = std::pair(ratio(), below(30));
    for (int i = below(3); i > 0; --i) board.geomean_vs[text()] = {ratio(), below(30)};
    for (int i = below(6); i > 0; --i) board.workloads.push_back({text(), text(), text(), ratio(), {{text(), ratio()}, {text(), ratio()}}});
    for (int i = below(4); i > 0; --i) board.by_family[text()] = {below(9), below(9), maybe_ratio(), maybe_ratio()};
    if (chance()) {
      board.goal_metric = chance() ? "geomean_vs_fastest" : "geomean_vs:" + text();
      board.goal_value = number();
      board.goal_met = chance();
    }
    return board;
  }
  KernelReport device_code() {
    KernelReport code;
    for (int i = below(3); i > 0; --i)
      code.kernels.push_back({text(), text(), text(), below(255), below(16), int64_t{1} << below(40), below(99), below(99), below(99), below(99), {text(), text()}});
    if (chance()) code.advisories = {text()};
    return code;
  }
  Evaluation evaluation() {
    Evaluation evaluation{"e" + text(), text(), text(), text(), text(), text(), text(), text(), text(), verdict(), {}, {}, {}, number(), scoreboard(),
                          {number(), number(), number(), number(), number(), number()}, text(), {}};
    for (int i = below(4); i > 0; --i) evaluation.solutions.push_back({text(), text(), text(), text(), text(), {text(), text()}, number(), device_code()});
    for (int i = below(5); i > 0; --i) evaluation.workloads.push_back(workload());
    for (int i = below(3); i > 0; --i) evaluation.hidden.push_back({text(), verdict(), {number(), number(), number(), number(), below(20)}});
    for (int i = below(3); i > 0; --i) evaluation.remarks.push_back(text());
    return evaluation;
  }

 private:
  std::mt19937_64 engine_;
  bool special_ = false;
};

TEST(Evaluation, OfTheTimeBeforeHiddenWorkloadsIsRead) {
  Evaluation evaluation = Generator(7).evaluation();
  evaluation.hidden.clear();
  Json json = to_json(evaluation);
  json.erase("hidden");
  EXPECT_EQ(evaluation_from_json(json, "e").value(), evaluation);
}

TEST(Evaluation, WhatIsWrittenIsReadBackEqual) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Generator generate(seed);
    Evaluation evaluation = generate.evaluation();
    auto parsed = parse_json(to_json(evaluation).dump(), "text");
    ASSERT_TRUE(parsed) << parsed.error().what;
    auto read = evaluation_from_json(*parsed, "text");
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().what;
    EXPECT_EQ(*read, evaluation) << "seed " << seed;
  }
}

// NaN is not equal to itself, so the texts are compared.
TEST(Evaluation, NaNAndInfinitySurvive) {
  for (uint64_t seed = 1000; seed < 1200; ++seed) {
    Generator generate(seed);
    generate.with_special_numbers();
    std::string text = to_json(generate.evaluation()).dump();
    auto read = evaluation_from_json(*parse_json(text, "text"), "text");
    ASSERT_TRUE(read) << "seed " << seed << ": " << read.error().what;
    EXPECT_EQ(to_json(*read).dump(), text) << "seed " << seed;
  }
}

// What was written before Solutions could have device code has no such key, and what has none is written as it was then.
TEST(Evaluation, WithoutDeviceCodeIsAsItAlwaysWas) {
  Evaluation evaluation = Generator(3).evaluation();
  evaluation.solutions = {{"a", "candidate", "h", "", "", {}, 1, {}}};
  const Json json = to_json(evaluation);
  EXPECT_FALSE(json["solutions"][0].contains("device_code"));
  EXPECT_EQ(evaluation_from_json(json, "old").value(), evaluation);
  evaluation.solutions[0].device.kernels = {{"f(int*)", "_Z1fPi", "sm_90a", 32, 1, 4, 8, 16, 1024, 0, {"C7510: x"}}};
  Json with = to_json(evaluation);
  EXPECT_EQ(with["solutions"][0]["device_code"]["kernels"][0]["spill_load_bytes"], 8);
  with["solutions"][0]["device_code"]["kernels"][0].erase("arch");
  EXPECT_EQ(evaluation_from_json(with, "bad").error().what, "bad: solutions[0].device_code.kernels[0].arch: missing");
}

Evaluation small() {
  Evaluation evaluation;
  evaluation.id = "e0";
  evaluation.workloads = {{"w", "d", "f", 10, {{"mine", "candidate", {Code::correct, "", ""}, {}, {{Column::flushed, {{0, 0, 5, ""}, {1, 1, 7, "preempted"}}}}}}}};
  return evaluation;
}

std::string complaint_after(const std::function<void(Json&)>& damage) {
  Json json = to_json(small());
  damage(json);
  auto read = evaluation_from_json(json, "a.json");
  return read ? "read without complaint" : read.error().what;
}

TEST(Evaluation, AnythingElseIsAnErrorThatNamesTheKey) {
  auto trial = [](Json& json) -> Json& { return json["workloads"][0]["trials"][0]; };
  EXPECT_EQ(complaint_after([](Json& json) { json.erase("secret"); }), "a.json: secret: missing");
  EXPECT_EQ(complaint_after([](Json& json) { json["extra"] = 1; }), "a.json: extra: unknown key");
  EXPECT_EQ(complaint_after([](Json& json) { json = 3; }), "a.json: top level: expected an object, found 3");
  EXPECT_EQ(complaint_after([](Json& json) { json["task"] = 3; }), "a.json: task: expected a string, found 3");
  EXPECT_EQ(complaint_after([](Json& json) { json["seconds"]["judge"] = "much"; }),
            "a.json: seconds.judge: expected a number, \"NaN\", \"Infinity\" or \"-Infinity\", found \"much\"");
  EXPECT_EQ(complaint_after([](Json& json) { json["verdict"]["code"] = 7; }), "a.json: verdict.code: 7 is not the number of a Verdict");
  EXPECT_EQ(complaint_after([](Json& json) { json["verdict"]["name"] = "correct"; }),
            "a.json: verdict.name: expected \"not_run\" for the code 504, found \"correct\"");
  EXPECT_EQ(complaint_after([](Json& json) { json["remarks"] = {"a", 1}; }), "a.json: remarks[1]: expected a string, found 1");
  EXPECT_EQ(complaint_after([](Json& json) { json["workloads"][0]["trials"] = Json::array(); }),
            "a.json: workloads[0].trials: expected at least the candidate's, found none");
  EXPECT_EQ(complaint_after([&](Json& json) { trial(json)["samples"]["flushed"]["ns"].push_back(1); }),
            "a.json: workloads[0].trials[0].flushed.ns: expected as many draws and positions as ns, found 2, 2 and 3");
  EXPECT_EQ(complaint_after([&](Json& json) { trial(json)["samples"]["flushed"]["draws"][1] = 1.5; }),
            "a.json: workloads[0].trials[0].flushed.draws[1]: expected an integer of 32 bits, found 1.5");
  EXPECT_THAT(complaint_after([&](Json& json) { trial(json)["samples"]["flushed"]["discarded"]["2"] = "late"; }), HasSubstr("\"2\": expected the index"));
  EXPECT_THAT(complaint_after([&](Json& json) { trial(json)["samples"]["hot"] = Json::object(); }), HasSubstr("unknown column \"hot\""));
  EXPECT_THAT(complaint_after([&](Json& json) { trial(json)["accuracy"]["draws_checked"] = int64_t{1} << 40; }), HasSubstr("expected an integer from"));
}

TEST(Evaluation, MedianIsOfTheSamplesThatWereUsed) {
  Evaluation evaluation = small();
  const Trial& trial = evaluation.workloads[0].candidate();
  EXPECT_EQ(trial.median_ns(Column::flushed), 5);
  EXPECT_TRUE(std::isnan(trial.median_ns(Column::cold)));
  Trial even{.samples = {{Column::cold, {{0, 0, 4, ""}, {1, 0, 1, ""}, {2, 0, 3, ""}, {3, 0, 2, ""}}}}};
  EXPECT_EQ(even.median_ns(Column::cold), 2.5);
}

TEST(Evaluation, IdIsOfTheContents) {
  Evaluation evaluation = small();
  std::string id = evaluation_id(evaluation);
  EXPECT_EQ(id.size(), 17u);
  evaluation.id = id;
  EXPECT_EQ(evaluation_id(evaluation), id);
  evaluation.workloads[0].trials[0].samples[Column::flushed][0].ns += 1;
  EXPECT_NE(evaluation_id(evaluation), id);
  evaluation.verdict.evidence = "bytes \xff\xfe of a compiler";
  EXPECT_EQ(evaluation_id(evaluation).size(), 17u);
}

// A whole judgement is parsed and written in milliseconds: 26 workloads, 3 Solutions, 20 samples, 3 columns.
TEST(Evaluation, IsQuickToReadAndWrite) {
  Generator generate(5);
  Evaluation evaluation = generate.evaluation();
  evaluation.workloads.clear();
  for (int w = 0; w < 26; ++w) {
    WorkloadResult result{"workload" + std::to_string(w), "attention", "decode", 100, {}};
    for (int s = 0; s < 3; ++s) {
      Trial trial{"solution" + std::to_string(s), "baseline", {Code::correct, "", ""}, {}, {}};
      for (Column column : {Column::flushed, Column::resident, Column::cold})
        for (int i = 0; i < 20; ++i) trial.samples[column].push_back({i, i % 3, 1e6 + generate.number() * 0 + i * 1.234567, ""});
      result.trials.push_back(std::move(trial));
    }
    evaluation.workloads.push_back(std::move(result));
  }
  auto begin = std::chrono::steady_clock::now();
  std::string text = to_json(evaluation).dump();
  auto middle = std::chrono::steady_clock::now();
  auto read = evaluation_from_json(*parse_json(text, "text"), "text");
  auto end = std::chrono::steady_clock::now();
  ASSERT_TRUE(read) << read.error().what;
  double write_ms = std::chrono::duration<double, std::milli>(middle - begin).count();
  double read_ms = std::chrono::duration<double, std::milli>(end - middle).count();
  RecordProperty("write_us", static_cast<int>(write_ms * 1000));
  RecordProperty("read_us", static_cast<int>(read_ms * 1000));
  fmt::print("{} bytes, written in {:.2f} ms, read in {:.2f} ms\n", text.size(), write_ms, read_ms);
#if defined(NDEBUG) && !defined(WHET_SANITIZED)
  EXPECT_LT(write_ms + read_ms, 20);
#endif
}

TEST(Scoreboard, HasTheKeysThatOthersRelyOn) {
  Scoreboard board;
  board.workloads_total = 4;
  board.workloads_correct = 3;
  board.at_par = 2;
  board.geomean_correct_only = std::pair(Ratio{1.5, 1.4, 1.6}, 3);
  for (int i = 0; i < 4; ++i) board.workloads.push_back({"w" + std::to_string(i), "f", "onednn", {0.5 + i, 0.4, 9}, {{"onednn", {0.5 + i, 0.4, 9}}}});
  board.by_family["f"] = {4, 3, Ratio{1, 1, 1}, {}};
  board.goal_metric = "geomean_vs_fastest";
  board.goal_value = 1.3;
  Json json = to_json(board);
  EXPECT_TRUE(json["geomean_vs_fastest"].is_null());
  EXPECT_EQ(json["geomean_vs"].dump(), R"({"onednn":null})");
  EXPECT_EQ(json["geomean_correct_only"].dump(), R"({"value":1.5,"low":1.4,"high":1.6,"n":3})");
  ASSERT_EQ(json["worst"].size(), 3u);
  EXPECT_EQ(json["worst"][0].dump(), R"({"workload":"w0","ratio":{"value":0.5,"low":0.4,"high":9.0}})");
  EXPECT_EQ(json["by_family"]["f"].dump(), R"({"workloads":4,"correct":3,"geomean":{"value":1.0,"low":1.0,"high":1.0},"geomean_without":null})");
  EXPECT_EQ(json["goal"].dump(), R"({"geomean_vs_fastest":1.3})");
  EXPECT_EQ(json["goal_met"], false);
  board.goal_metric = "geomean_vs:onednn";
  board.geomean_vs["onednn"] = {{2, 1.9, 2.1}, 3};
  json = to_json(board);
  EXPECT_EQ(json["goal"].dump(), R"({"geomean_vs":{"onednn":1.3}})");
  EXPECT_EQ(json["geomean_vs"].dump(), R"({"onednn":{"value":2.0,"low":1.9,"high":2.1,"n":3}})");
  EXPECT_EQ(scoreboard_from_json(json, "b").value(), board);
  json["worst"].erase(0);
  EXPECT_EQ(scoreboard_from_json(json, "b").error().what, "b: worst: does not agree with `workloads`");
}

EvaluateRequest request() {
  EvaluateRequest request;
  request.task = {{"task.toml", std::string(64, 'a')}};
  request.solution = {"mine", {{"solution.json", std::string(64, 'b')}, {"k/entry.cc", std::string(64, 'c')}}};
  request.baselines = std::vector<SolutionRef>{{"onednn", {}}};
  request.workloads = {"w1", "w2"};
  request.columns = {Column::cold};
  request.give_up_below = 0.9;
  request.call_limit_seconds = 0.5;
  request.hidden = 5;
  request.admission = false;
  request.confirm_of = "e1";
  return request;
}

TEST(EvaluateRequest, RoundTripAndDefaults) {
  EXPECT_EQ(evaluate_request_from_json(*parse_json(to_json(request()).dump(), "r"), "r").value(), request());
  EvaluateRequest absent = request();
  absent.baselines.reset();
  EXPECT_EQ(evaluate_request_from_json(to_json(absent), "r").value(), absent);
  absent.baselines.emplace();
  EXPECT_EQ(evaluate_request_from_json(to_json(absent), "r").value(), absent);

  EvaluateRequest smallest{.task = request().task, .solution = {"start", {}}};
  Json json = {{"task", to_json(smallest)["task"]}, {"solution", {{"name", "start"}, {"manifest", Json::object()}}}};
  EXPECT_EQ(evaluate_request_from_json(json, "r").value(), smallest);
}

TEST(EvaluateRequest, BadOnesAreRefused) {
  auto complaint = [](const std::function<void(Json&)>& damage) {
    Json json = to_json(request());
    damage(json);
    auto read = evaluate_request_from_json(json, "evaluate");
    return read ? "read without complaint" : read.error().what;
  };
  EXPECT_EQ(complaint([](Json& json) { json.erase("solution"); }), "evaluate: solution: missing");
  EXPECT_EQ(complaint([](Json& json) { json["draws"] = 3; }), "evaluate: draws: unknown key");
  EXPECT_EQ(complaint([](Json& json) { json["min_draws"] = 0; }), "evaluate: min_draws: expected at least 1, found 0");
  EXPECT_EQ(complaint([](Json& json) { json["hidden"] = -1; }), "evaluate: hidden: expected 0 to 10000, found -1");
  EXPECT_EQ(complaint([](Json& json) { json["max_draws"] = 5; }), "evaluate: max_draws: expected at least min_draws, which is 6, found 5");
  EXPECT_EQ(complaint([](Json& json) { json["seconds_per_workload"] = -1; }), "evaluate: seconds_per_workload: expected a number of at least 0, found -1");
  EXPECT_EQ(complaint([](Json& json) { json["call_limit_seconds"] = 0; }), "evaluate: call_limit_seconds: expected a number of at least 0.001, found 0");
  EXPECT_THAT(complaint([](Json& json) { json["target_half_width"] = "NaN"; }), HasSubstr("target_half_width"));
  EXPECT_EQ(complaint([](Json& json) { json["columns"] = {"hot"}; }), "evaluate: columns: expected flushed, resident, cold, host, end_to_end or graph, found \"hot\"");
  EXPECT_THAT(complaint([](Json& json) { json["task"]["task.toml"] = "abc"; }), HasSubstr("expected a SHA-256"));
  for (const char* path : {"../x", "a/../b", "/etc/passwd", "", "a/.."})
    EXPECT_THAT(complaint([&](Json& json) { json["solution"]["manifest"][path] = std::string(64, 'a'); }), HasSubstr("stays inside")) << path;
}

}  // namespace
}  // namespace whet
